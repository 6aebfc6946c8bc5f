"""May they: all authorizers as one, with a memory of decisions, and the words of a refusal.

Source: kubernetes apiserver ``pkg/authorization/union``, ``pkg/endpoints/handlers/responsewriters/errors.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from hyperkube_host.apiserver.plugins import may_block
from hyperkube_host.apiserver.serializer.negotiation import with_details

from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules, WaitsAtTimes
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.fields import FieldRequirement
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.labels import Requirement
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import SeenBefore, forgets
from hyperkube.machinery.users import PRIVILEGED_GROUP, UserInfo

_CACHE_MAX, _LONGEST, _MOST_TERMS = 20_000, 1024, 16
"""Decisions that are remembered, and how long a question may be for it: in characters, and in terms of selectors."""

_PRIVILEGED = Decision("allow")

Key = tuple[UserInfo, str, str, str, str, str, str, str, tuple[FieldRequirement, ...], tuple[Requirement, ...]]


class Authorization:
    """All enabled authorizers as one; members of ``system:masters`` are allowed before any is asked.

    Args:
        authorizers: the ``authz_authorize`` functions in order.
        epochs: the ``authz_epoch`` functions: an old decision counts while their sum stays the same.
        rule_listers: the ``authz_rules`` functions.
        elsewhere: makes a call that may wait for another server.
    """

    def __init__(
        self,
        authorizers: Sequence[Callable[..., Decision]] = (),
        epochs: Sequence[Callable[[], int]] = (),
        rule_listers: Sequence[Callable[..., Rules]] = (),
        *,
        elsewhere: Callable[[Callable[[], Decision]], Decision] = lambda call: call(),
    ) -> None:
        self._authorizers = tuple(authorizers)
        self._waiting = _waiting(self._authorizers)
        self._elsewhere = elsewhere
        self._epochs = tuple(epochs)
        self._rule_listers = tuple(rule_listers)
        self._decisions: dict[Key, tuple[int, Decision]] = {}
        self._latest = 0
        self._seen_before = SeenBefore()
        forgets(self)

    def replace(
        self,
        authorizers: Sequence[Callable[..., Decision]],
        epochs: Sequence[Callable[[], int]],
        rule_listers: Sequence[Callable[..., Rules]],
    ) -> None:
        """Ask others from now on; what was decided before is forgotten."""
        # Authorizers first: a decision of the old ones was begun in an epoch that ends with the next line, whenever it
        # is remembered, and one of the new ones that is remembered too early is asked for again.
        self._authorizers, self._rule_listers = tuple(authorizers), tuple(rule_listers)
        self._waiting = _waiting(self._authorizers)
        self._epochs = (*epochs, _constant(self.epoch() + 1))
        self._decisions = {}

    def forget(self) -> None:
        """Forget what was decided: authorizers are asked again."""
        self._decisions.clear()

    def authorize(self, attributes: Attributes) -> Decision:
        """Return the deciding answer; ``no opinion`` means refused."""
        known = self.remembered(attributes)
        return self._decide(attributes, may_wait=self._may_wait(attributes)) if known is None else known

    def remembered(self, attributes: Attributes) -> Decision | None:
        """Return a decision that needs no authorizer, None when one has to be asked."""
        user = attributes.user
        if PRIVILEGED_GROUP in user.groups:
            return _PRIVILEGED
        if user.extra:
            return None
        known = self._decisions.get(_key(attributes))
        return known[1] if known is not None and known[0] == self.epoch() else None

    def at_once(self, attributes: Attributes) -> Decision | None:
        """Return the deciding answer where no authorizer may wait, or one that is remembered; else None."""
        known = self.remembered(attributes)
        return known if known is not None or self._may_wait(attributes) else self._decide(attributes, may_wait=False)

    def epoch(self) -> int:
        """Return the number that changes whenever a remembered decision may not count any more."""
        number = 0
        for epoch in self._epochs:  # a loop costs half of what a generator does, with every request
            number += epoch()
        return number

    def _may_wait(self, attributes: Attributes) -> bool:
        return any(waits_for(attributes) for waits_for in self._waiting)

    def _decide(self, attributes: Attributes, *, may_wait: bool) -> Decision:
        """Ask the authorizers, and remember the answer where it may be."""
        # Read before asking: when roles change meanwhile, the decision is remembered under an epoch that is over.
        epoch = self.epoch()
        decision = self._elsewhere(partial(self._ask, attributes)) if may_wait else self._ask(attributes)
        if decision.cacheable and not attributes.user.extra and _is_short(attributes):
            self._remember(attributes, epoch, decision, at_once=may_wait or not attributes.name)
        return decision

    def _remember(self, attributes: Attributes, epoch: int, decision: Decision, *, at_once: bool) -> None:
        """Remember a decision, `at_once` or the second time: most names are asked for once."""
        if epoch > self._latest:  # no earlier decision counts any more; one that is late is told by its own epoch
            self._latest, self._decisions = epoch, {}
        key = _key(attributes)
        if not (at_once or self._seen_before(key)):
            return
        if len(self._decisions) >= _CACHE_MAX:
            self._decisions.clear()
        self._decisions[key] = (epoch, decision)

    def _ask(self, attributes: Attributes) -> Decision:
        reasons: list[str] = []
        cacheable = True
        for authorize in self._authorizers:
            decision = authorize(attributes=attributes)
            cacheable = cacheable and decision.cacheable
            if decision.verdict != "no opinion":
                return decision if cacheable else replace(decision, cacheable=False)
            if decision.reason:
                reasons.append(decision.reason)
        if not reasons and cacheable:
            return NO_OPINION
        return Decision("no opinion", "\n".join(reasons), cacheable)

    def rules(self, user: UserInfo, namespace: str) -> Rules:
        """Return what the user may do in a namespace: the lists of all authorizers, joined."""
        found = [rules(user=user, namespace=namespace) for rules in self._rule_listers]
        resource_rules: list[Object] = [rule for rules in found for rule in rules.resource_rules]
        path_rules: list[Object] = [rule for rules in found for rule in rules.non_resource_rules]
        errors = ", ".join(rules.error for rules in found if rules.error)
        return Rules(resource_rules, path_rules, any(rules.incomplete for rules in found), errors)


def _waiting(authorizers: Sequence[Callable[..., Decision]]) -> Sequence[Callable[[Attributes], bool]]:
    """Return what tells of a question whether an authorizer may wait with it, of those that may at all."""
    plugins = [getattr(authorize, "__self__", None) for authorize in filter(may_block, authorizers)]
    return [plugin.waits_for if isinstance(plugin, WaitsAtTimes) else _always for plugin in plugins]


def _always(_: Attributes) -> bool:
    return True


def _constant(number: int) -> Callable[[], int]:
    """Return a function that puts all later epochs above those before a change of authorizers."""
    return lambda: number


def _is_short(attributes: Attributes) -> bool:
    """Tell whether a question is short enough to be remembered: clients write names, paths and selectors."""
    written = len(attributes.name) + len(attributes.path) + len(attributes.resource) + len(attributes.group)
    return written <= _LONGEST and len(attributes.label_selector) + len(attributes.field_selector) <= _MOST_TERMS


def _key(attributes: Attributes) -> Key:
    path = "" if attributes.is_resource else attributes.path
    return (
        attributes.user,
        attributes.verb,
        attributes.group,
        attributes.version,
        f"{attributes.resource}/{attributes.subresource}",
        attributes.namespace,
        attributes.name,
        path,
        attributes.field_selector,
        attributes.label_selector,
    )


def refusal(attributes: Attributes, reason: str = "") -> ApiError:
    """Return the error for what a user may not do."""
    user = attributes.user.name
    suffix = f": {reason}" if reason else ""
    if not attributes.is_resource:
        text = f'User "{user}" cannot {attributes.verb} path "{attributes.path}"{suffix}'
        return with_details(Forbidden.about(GroupResource("", ""), "", text))
    resource = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
    scope = f'in the namespace "{attributes.namespace}"' if attributes.namespace else "at the cluster scope"
    text = f'User "{user}" cannot {attributes.verb} resource "{resource}" in API group "{attributes.group}" {scope}'
    return Forbidden.about(GroupResource(attributes.group, attributes.resource), attributes.name, text + suffix)
