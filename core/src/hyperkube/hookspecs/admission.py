"""Admission: plugins that may change a write, then plugins that may refuse it.

For one request all `admission_mutate` run in the order of the chain, then the object is defaulted and validated
again, then all `admission_validate` run in the same order. The first refusal ends the request. On update the whole
sequence runs again inside every retry of the compare-and-swap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import UserInfo

if TYPE_CHECKING:
    from hyperkube.client.informer import Informer

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


class Authorizes(Protocol):
    """Asks the authorizers about the requesting user; see `hyperkube.hookspecs.authz`."""

    def __call__(
        self, verb: str, resource: GroupVersionResource, *, subresource: str = "", namespace: str = "", name: str = ""
    ) -> bool:
        """Tell whether the user of this request may do that."""


class Equivalent(NamedTuple):
    """A resource in another version that is the same objects: ``apps/v1`` and ``extensions/v1beta1`` deployments."""

    resource: GroupVersionResource
    kind: GroupVersionKind


class Versions(Protocol):
    """The versions of what a request is about."""

    def equivalents(self) -> Sequence[Equivalent]:
        """Return the other versions that are served, with the kind that each has at the request's subresource."""

    def convert(self, obj: Object, kind: GroupVersionKind) -> Object:
        """Return an object in another version; the argument stays as it is.

        Raises:
            ApiError: it cannot be converted.
        """


class OneVersion:
    """The versions of what is served in one version only."""

    def equivalents(self) -> Sequence[Equivalent]:
        """Return none."""
        return ()

    def convert(self, obj: Object, kind: GroupVersionKind) -> Object:
        """Return the object."""
        return obj


@dataclass(slots=True, kw_only=True)
class AdmissionRequest:
    """One write on its way to the store.

    Attributes:
        operation: CREATE, UPDATE (also for patches), DELETE or CONNECT (exec, attach, port-forward, proxy).
        resource: the resource addressed; `kind` is that of `object`, which for a subresource may differ.
        subresource: ``status``, ``exec``, … or empty.
        name: may be empty on CREATE with generateName.
        object: the plugin's own copy, to be changed in place while mutating; None on DELETE.
        old_object: as stored, shared: never change it; None on CREATE and CONNECT.
        options: the Create/Update/Delete options given with the request.
        user: who asks, after impersonation.
        dry_run: nothing will be stored: make no side effect.
        may: asks the authorizers about `user`.
        annotations: audit annotations set so far (``plugin.example.com/key``).
        warnings: texts for the client's ``Warning`` header.
        audit_id: tells the request from all others; clients see it as ``Audit-Id``.
        versions: the other versions of the resource, for those who ask about one of them.
        addressed: what the client addressed, where this shows the request in another version; None where it does not.
    """

    operation: Operation
    resource: GroupVersionResource
    kind: GroupVersionKind
    namespace: str
    name: str
    user: UserInfo
    object: Object | None = None
    old_object: Object | None = None
    subresource: str = ""
    options: Object = field(default_factory=dict)
    dry_run: bool = False
    may: Authorizes
    annotations: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    audit_id: str = ""
    versions: Versions = field(default_factory=OneVersion)
    addressed: Equivalent | None = None
    on_failure: list[Callable[[], None]] = field(default_factory=list)
    """Called, last first, when the write is refused or fails after all: give back what was charged."""
    memory: dict[str, Any] = field(default_factory=dict)
    """What a plugin keeps, under its own name, between the rounds of one write."""
    wants_reinvocation: bool = False
    """Set by a webhook or policy that changed the object: all mutating plugins run once more."""
    is_reinvocation: bool = False
    """Whether this is that second round."""

    def writes(self, resource: str, group: str = "", subresource: str = "") -> bool:
        """Tell whether this creates or updates that resource (itself, unless a subresource is named)."""
        return (
            self.operation in {"CREATE", "UPDATE"}
            and self.resource.resource == resource
            and self.resource.group == group
            and self.subresource == subresource
        )

    def creates(self, resource: str, group: str = "", subresource: str = "") -> bool:
        """Tell whether this creates that resource, or posts to that subresource of it."""
        return (
            self.operation == "CREATE"
            and self.resource.resource == resource
            and self.resource.group == group
            and self.subresource == subresource
        )

    def updates(self, resource: str, group: str = "", subresource: str = "") -> bool:
        """Tell whether this updates that resource or that subresource of it."""
        return self.operation == "UPDATE" and self.writes(resource, group, subresource)

    def in_version(self, other: Equivalent) -> AdmissionRequest:
        """Return the request as it looks in another version; what is noted in it is noted in this one too.

        Raises:
            ApiError: an object cannot be converted.
        """
        obj, old = self.object, self.old_object
        return replace(
            self,
            resource=other.resource,
            kind=other.kind,
            object=self.versions.convert(obj, other.kind) if obj is not None else None,
            old_object=self.versions.convert(old, other.kind) if old is not None else None,
            addressed=self.addressed or Equivalent(self.resource, self.kind),
        )

    def take(self, obj: Object) -> bool:
        """Put an object, of whichever version, in the place of the request's; tell whether that changed it."""
        own = self.written()
        converted = self.versions.convert(obj, self.kind)
        if converted == own:
            return False
        if converted is not own:
            own.clear()
            own.update(converted)
        return True

    def written(self) -> Object:
        """Return the object of a CREATE or UPDATE.

        Raises:
            LookupError: the operation carries no object.
        """
        if self.object is None:
            raise LookupError(f"a {self.operation} carries no object")
        return self.object


@runtime_checkable
class WaitsAtTimes(Protocol):
    """An admission plugin that waits (see `Plugin.may_block`) for some requests, or locks while it writes."""

    def waits_for(self, request: AdmissionRequest) -> bool:
        """Tell whether a hook may wait for something with this request; asked before each hook, must not wait."""


@runtime_checkable
class IdleAtTimes(Protocol):
    """An admission plugin whose hooks do nothing at all with some requests: they are not called for these."""

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether the hooks have nothing to do with this request; asked before each hook, must not wait."""


@runtime_checkable
class Repeats(Protocol):
    """An admission plugin that treats all objects of one template alike, such as the pods of a ReplicaSet.

    What its hooks did to the last one that was created from the template is then done to the next without asking it;
    and what they did to the last one that was updated with ``spec`` and annotations as they were.

    Must: decide by nothing but the request's operation, resource, namespace, `dry_run` and the user's name, its own
        settings, what the informers hold, and the object: for a CREATE without what tells it from others of its
        template (name, uid, generation, times, managed fields), for an UPDATE that leaves ``spec`` and annotations as
        they are by these alone. Do nothing but change ``spec``, for a CREATE also labels and annotations, and set
        audit annotations.

    Attributes:
        decided_by: the informers whose objects it looks up.
    """

    decided_by: Sequence[Informer]

    def repeats(self, request: AdmissionRequest) -> bool:
        """Tell whether what was done to this request holds for the next: not if more was asked than informers.

        Called after a hook, if nothing is known of the template yet; must not wait.
        """


@hookspec
def admission_mutate(request: AdmissionRequest) -> None:
    """Change ``request.object`` in place, or leave it.

    Called: once per write and per compare-and-swap retry, for every resource, or those that the plugin `handles`; on
        the request's own thread, or on one that it shares with others if the plugin never blocks (`Plugin.may_block`).
    Order: that of the chain; what an earlier plugin did is visible.
    Raises: an `ApiError`, usually `Forbidden` with a bare message: the host adds resource and name.
    Must: be idempotent; leave requests that are none of its business untouched; not change ``old_object``; make no
        side effect when ``dry_run`` is set; undo charges through ``on_failure``.
    """


@hookspec
def admission_validate(request: AdmissionRequest) -> None:
    """Refuse the write by raising, or let it pass.

    Called: once per write and per compare-and-swap retry, after all mutations, defaulting and validation; for the same
        resources and on the same threads as `admission_mutate`.
    Order: that of the chain.
    Raises: an `ApiError`, usually `Forbidden` with a bare message: the host adds resource and name.
    Must: not change the object; make no side effect when ``dry_run`` is set; undo charges through ``on_failure``.
    """


class AdmissionHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def admission_mutate(self, *, request: AdmissionRequest) -> None:
        """Call `admission_mutate` of all plugins."""

    def admission_validate(self, *, request: AdmissionRequest) -> None:
        """Call `admission_validate` of all plugins."""
