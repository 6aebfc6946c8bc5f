"""Authorization: allow, deny, or no opinion; the first allow or deny wins, silence all around refuses.

Members of ``system:masters`` are allowed before any plugin is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Literal, Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.fields import FieldRequirement
from hyperkube.machinery.labels import Requirement
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a user wants to do: a verb on a resource, or a lower-case HTTP method on a path.

    Attributes:
        field_selector: to which objects a list, watch or deletion of many is limited; what cannot be read is left out.
        label_selector: the same by labels.
    """

    user: UserInfo
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    field_selector: tuple[FieldRequirement, ...] = ()
    label_selector: tuple[Requirement, ...] = ()

    @property
    def is_resource(self) -> bool:
        """Whether this is about a resource rather than a bare path."""
        return bool(self.resource)


@dataclass(frozen=True, slots=True)
class Decision:
    """An authorizer's answer; the reason ends up in the audit log and in 403 messages.

    `cacheable` is False for an answer that may change without `authz_epoch` telling: a remote authorizer's, who
    remembers its answers itself.
    """

    verdict: Literal["allow", "deny", "no opinion"]
    reason: str = ""
    cacheable: bool = True

    @property
    def allowed(self) -> bool:
        """Whether this allows the request."""
        return self.verdict == "allow"


NO_OPINION = Decision("no opinion")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a user may do, as SelfSubjectRulesReview shows it; `incomplete` when not everything can be listed."""

    resource_rules: list[Object] = field(default_factory=list)
    non_resource_rules: list[Object] = field(default_factory=list)
    incomplete: bool = False
    error: str = ""


class Authorizer(Protocol):
    """All enabled authorizers as one; what plugins and the pipeline ask."""

    def authorize(self, attributes: Attributes) -> Decision:
        """Return the deciding answer; ``no opinion`` means refused."""

    def rules(self, user: UserInfo, namespace: str) -> Rules:
        """Return what the user may do in a namespace."""


@runtime_checkable
class ExplainsRefusals(Protocol):
    """An authorizer that can tell what is missing for a request to be allowed."""

    def reasons(self, attributes: Attributes) -> list[str]:
        """Return sentences, at least one, the nearest rule first; called after a refusal, where users may know them."""


@runtime_checkable
class WaitsAtTimes(Protocol):
    """An authorizer that waits (see `Plugin.may_block`) for some questions."""

    def waits_for(self, attributes: Attributes) -> bool:
        """Tell whether the hook may wait for something with this question; asked before it, must not wait."""


@hookspec
def authz_authorize(attributes: Attributes) -> Decision:
    """Decide, or return `NO_OPINION`.

    Called: for every request whose decision is not cached, on a worker thread; also for impersonation, reviews and
        escalation checks.
    Order: that of ``--authorization-mode``; asking stops at the first allow or deny.
    Must: be a pure function of the attributes and of what `authz_epoch` counts; answer in microseconds from memory
        unless its point is to ask another server.
    """


@hookspec
def authz_epoch() -> int:
    """Return a number that grows whenever an earlier decision might come out differently.

    Called: before a cached decision is reused, often; on any thread.
    Must: never go back; be cheap (an attribute read). A plugin whose decisions never change returns 0.
    """


@hookspec
def authz_rules(user: UserInfo, namespace: str) -> Rules:
    """List what the user may do in the namespace and beyond any namespace.

    Called: for SelfSubjectRulesReview and ``kubectl auth can-i --list``.
    Order: that of ``--authorization-mode``; the lists are joined.
    Must: say ``incomplete`` when it cannot list everything it would allow.
    """


@hookspec
def authz_bootstrap_objects() -> Sequence[Object]:
    """Return the objects (cluster roles, bindings, …) that must exist for the authorizer to be useful.

    Called: once after the API server serves, on a background thread; the host creates what is missing and adds the
        missing rules and subjects to what exists, unless annotated
        ``rbac.authorization.kubernetes.io/autoupdate: false``.
    Must: return complete objects with apiVersion, kind and name; the same ones on each call.
    """


class AuthzHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def authz_authorize(self, *, attributes: Attributes) -> list[Decision]:
        """Call `authz_authorize` of all plugins."""

    def authz_epoch(self) -> list[int]:
        """Call `authz_epoch` of all plugins."""

    def authz_rules(self, *, user: UserInfo, namespace: str) -> list[Rules]:
        """Call `authz_rules` of all plugins."""

    def authz_bootstrap_objects(self) -> list[Sequence[Object]]:
        """Call `authz_bootstrap_objects` of all plugins."""
