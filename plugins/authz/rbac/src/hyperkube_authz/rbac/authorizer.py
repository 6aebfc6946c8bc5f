"""The authorizer itself: rules of the roles that are bound to a user, and the memory of decisions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hyperkube_authz.rbac.bindings import BindingIndex, Grant
from hyperkube_authz.rbac.plugin_roles import plugin_roles
from hyperkube_authz.rbac.policy import bootstrap_objects

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authz import NO_OPINION, Attributes, Decision, Rules
from hyperkube.kinds.rbac import RBAC_GROUP, rule_allows, rule_allows_path
from hyperkube.kinds.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import SeenBefore, forgets
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

_REMEMBERED = 20_000
AGAIN_SECONDS = 20
"""Within so many seconds a question about an object is asked again that is worth to be remembered, as of leases."""
_REASONS = 512


class _RoleMissing(LookupError):
    """A binding names a role that is not there."""


class Settings(Record):
    """The user who may do everything; none unless named."""

    authorization_rbac_super_user: str = ""


class RBAC(Plugin):
    """Allows what a rule of a bound role allows; has no opinion on the rest."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._super_user = self.settings(Settings).authorization_rbac_super_user
        self._cluster_roles = self.informers.informer(CLUSTER_ROLES)
        self._roles = self.informers.informer(ROLES)
        self._cluster_bindings = self.informers.informer(CLUSTER_ROLE_BINDINGS)
        self._role_bindings = self.informers.informer(ROLE_BINDINGS)
        self._index = BindingIndex()
        self._lock = threading.Lock()
        self._epoch = 0
        self._decisions: dict[Attributes, Decision] = {}
        self._seen_before = SeenBefore()
        forgets(self)

    def forget(self) -> None:
        """Forget what was decided."""
        with self._lock:
            self._decisions = {}

    def start(self) -> None:
        """Follow roles and bindings."""
        for roles in (self._cluster_roles, self._roles):
            roles.add_handler(self._changed, self._role_updated, self._changed)
        for bindings in (self._cluster_bindings, self._role_bindings):
            bindings.add_handler(self._bound, self._rebound, self._unbound)

    def _changed(self, _obj: Object) -> None:
        with self._lock:
            self._epoch += 1
            self._decisions = {}

    def _role_updated(self, old: Object, new: Object) -> None:
        if old.get("rules") != new.get("rules"):
            self._changed(new)

    def _bound(self, binding: Object) -> None:
        self._index.put(binding)
        self._changed(binding)

    def _rebound(self, old: Object, new: Object) -> None:
        if old.get("subjects") != new.get("subjects") or old.get("roleRef") != new.get("roleRef"):
            self._bound(new)

    def _unbound(self, binding: Object) -> None:
        self._index.remove(binding)
        self._changed(binding)

    @hookimpl
    def authz_authorize(self, attributes: Attributes) -> Decision:
        """Allow what a rule covers, and say by which binding.

        What is decided on an object is remembered when it is asked again soon: most names are asked for seldom.
        """
        if self._super_user and attributes.user.name == self._super_user:
            return Decision("allow", "")
        decisions, epoch = self._decisions, self._epoch
        known = decisions.get(attributes)
        if known is not None:
            return known
        decision = self._decide(attributes)
        if attributes.name and not self._seen_before((self.context.clock.monotonic() // AGAIN_SECONDS, attributes)):
            return decision
        with self._lock:
            if self._epoch == epoch:
                if len(self._decisions) >= _REMEMBERED:
                    self._decisions = {}
                self._decisions[attributes] = decision
        return decision

    @hookimpl
    def authz_epoch(self) -> int:
        """Count the changes of roles and bindings."""
        return self._epoch

    @hookimpl
    def authz_rules(self, user: UserInfo, namespace: str) -> Rules:
        """List the rules of all roles that are bound to the user."""
        resource_rules: list[Object] = []
        non_resource_rules: list[Object] = []
        missing: list[str] = []
        for grant in self._index.grants(user, namespace):
            try:
                rules = self._rules_of(grant)
            except _RoleMissing as error:
                missing.append(str(error))
                continue
            for rule in rules:
                if rule.get("resources"):
                    members = ("verbs", "apiGroups", "resources", "resourceNames")
                    resource_rules.append({name: rule[name] for name in members if rule.get(name)})
                if rule.get("nonResourceURLs") and not grant.namespace:
                    non_resource_rules.append({"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]})
        return Rules(resource_rules, non_resource_rules, incomplete=bool(missing), error=aggregate(missing))

    @hookimpl
    def authz_bootstrap_objects(self) -> Sequence[Object]:
        """Return the default roles and bindings."""
        return bootstrap_objects(self.context.gates, plugin_roles())

    def reasons(self, attributes: Attributes) -> list[str]:
        """Tell which binding or role would have to say what; see `hyperkube.hookspecs.authz.ExplainsRefusals`."""
        from hyperkube_authz.rbac.reasons import reasons_for  # most servers give no reasons

        roles = (self._roles.list(), self._cluster_roles.list())
        return reasons_for(attributes, roles, (self._role_bindings.list(), self._cluster_bindings.list()))

    def _decide(self, attributes: Attributes) -> Decision:
        missing: list[str] = []
        for grant in self._index.grants(attributes.user, attributes.namespace):
            try:
                rules = self._rules_of(grant)
            except _RoleMissing as error:
                missing.append(str(error))
                continue
            if any(_covers(rule, attributes) for rule in rules):
                return _allowed(f"RBAC: allowed by {grant.describe()}")
        return Decision("no opinion", f"RBAC: {aggregate(missing)}") if missing else NO_OPINION

    def _rules_of(self, grant: Grant) -> Iterator[Object] | list[Object]:
        if grant.role_kind == "ClusterRole":
            role = self._cluster_roles.get("", grant.role_name)
        else:
            role = self._roles.get(grant.namespace, grant.role_name)
        if role is None:
            raise _RoleMissing(f'{grant.role_kind.lower()}.{RBAC_GROUP} "{grant.role_name}" not found')
        return role.get("rules") or []


@lru_cache(_REASONS)
def _allowed(reason: str) -> Decision:
    """Return one decision for all that is allowed for a reason."""
    return Decision("allow", reason)


def _covers(rule: Object, attributes: Attributes) -> bool:
    if attributes.is_resource:
        return rule_allows(
            rule,
            attributes.verb,
            attributes.group,
            attributes.resource,
            attributes.subresource,
            attributes.name,
        )
    return rule_allows_path(rule, attributes.verb, attributes.path)
