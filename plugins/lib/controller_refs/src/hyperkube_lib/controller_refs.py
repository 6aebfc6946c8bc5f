"""Controller references: which objects a controller's owner has, adopts and lets go.

An orphan that the owner selects is adopted; an object that it controls and selects no more is released. Before the
first adoption the owner is read anew, because the cache may still show one that was deleted, or replaced by another of
the same name: what such an owner adopted, the garbage collector would delete.
Source: kubernetes ``pkg/controller/controller_ref_manager.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.errors import ApiError, Invalid, NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.labels import DOUBLE_EQUALS, EQUALS, IN, Selector, SelectorError
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    owners_of,
    resource_version_of,
    uid_of,
)

SelectorOf = Callable[[Object], Selector]
"""Returns the selector of an owner."""


def candidates(children: Informer, owner: Object) -> list[Object]:
    """Return the objects of the owner's namespace that it controls, and those without a controller.

    The informer must have the index ``controller`` of `hyperkube.kinds.workloads.controller_index`.
    """
    namespace = namespace_of(owner)
    return [obj for uid in (uid_of(owner), "") for obj in children.by_index("controller", f"{namespace}/{uid}")]


def watch_orphans(loop: ReconcileLoop, children: Informer, owners: Informer, selector_of: SelectorOf) -> None:
    """Enqueue the owners that select an object without a controller, whenever one comes.

    It comes when it is created, loses its controller or changes its labels. Owners are found by one label that all they
    select must have: among a thousand of them each orphan is compared with those few that may want it.
    """

    def selected(owner: Object) -> tuple[str, ...]:
        try:
            return _selected_labels(namespace_of(owner), selector_of(owner))
        except SelectorError:  # it selects nothing until it is mended; its own sync says so
            return ()

    index = f"selected by {loop.name}"
    owners.add_index(index, selected)

    def enqueue(orphan: Object) -> None:
        if controller_of(orphan) is not None or is_being_deleted(orphan):
            return
        namespace, labels = namespace_of(orphan), labels_of(orphan)
        for value in ("", *(f"{key}={value}" for key, value in labels.items())):
            for owner in owners.by_index(index, f"{namespace}/{value}"):
                if selector_of(owner).matches(labels):
                    loop.enqueue(owner)

    def on_update(old: Object, new: Object) -> None:
        if labels_of(old) != labels_of(new) or controller_of(old) is not None:
            enqueue(new)

    children.add_handler(enqueue, on_update)


def _selected_labels(namespace: str, selector: Selector) -> tuple[str, ...]:
    """Return under which labels an owner is found: any object that it selects has one of them, or all do.

    An owner whose selector is empty is never found, as it adopts nothing.
    """
    if selector.is_empty or selector.selects_nothing:
        return ()
    for requirement in selector.requirements:
        if requirement.operator in {EQUALS, DOUBLE_EQUALS, IN}:
            return tuple(f"{namespace}/{requirement.key}={value}" for value in {*requirement.values})
    return (f"{namespace}/",)


class ControllerRefManager:
    """Claims objects for one owner; made anew for each sync, since it reads the owner at most once."""

    def __init__(
        self,
        client: Client,
        owner: Object,
        resource: GroupVersionResource,
        kind: str,
        selector: Selector,
        *,
        finalizers: Sequence[str] = (),
    ) -> None:
        """Claim for `owner`, which is of `resource` and `kind`.

        Args:
            client: patches the objects and reads the owner.
            owner: as the cache has it.
            resource: the owner's.
            kind: the owner's, for the reference.
            selector: what it selects.
            finalizers: are set on what it adopts and taken from what it releases.
        """
        self._client = client
        self._owner = owner
        self._resource = resource
        self._kind = kind
        self._selector = selector
        self._finalizers = finalizers
        self._checked = False
        self._refusal: NotYet | None = None

    def claim(
        self,
        resource: GroupVersionResource,
        objects: Iterable[Object],
        matches: Callable[[Object], bool] = lambda _obj: True,
    ) -> list[Object]:
        """Return those of the objects that the owner has from now on, adopting and releasing others.

        Objects that another controller has are ignored, and so is an orphan that is being deleted. An owner that is
        being deleted keeps what it has, and neither adopts nor releases. An object that is gone by now is not claimed.

        Args:
            resource: that of the objects.
            objects: of the owner's namespace.
            matches: what must hold of an object beside the selector.

        Raises:
            NotYet: there is something to adopt, but the owner was deleted or replaced meanwhile.
            ApiError: an adoption or a release failed; all others were attempted.
        """
        claimed: list[Object] = []
        failures: list[ApiError | NotYet] = []
        for obj in objects:
            try:
                own = self._claim(resource, obj, matches)
            except (ApiError, NotYet) as error:
                failures.append(error)
                continue
            if own is not None:
                claimed.append(own)
        if failures:
            raise failures[0]
        return claimed

    def _claim(self, resource: GroupVersionResource, obj: Object, matches: Callable[[Object], bool]) -> Object | None:
        """Return the object if it is the owner's now, as it is after its adoption."""
        controller = controller_of(obj)
        if controller is not None and controller.get("uid") != uid_of(self._owner):
            return None
        wanted = self._selector.matches(labels_of(obj)) and matches(obj)
        if controller is not None and wanted:
            return obj
        if is_being_deleted(self._owner):
            return None
        if controller is not None:
            self._release(resource, obj)
        elif wanted and not is_being_deleted(obj):
            return self._adopt(resource, obj)
        return None

    def _adopt(self, resource: GroupVersionResource, obj: Object) -> Object | None:
        self._check_owner()
        reference = controller_reference(self._owner, self._resource.api_version, self._kind)
        owners = [other for other in owners_of(obj) if other.get("uid") != reference["uid"]]
        meta: Object = {"ownerReferences": [*owners, reference]}
        if self._finalizers:
            known = metadata(obj).get("finalizers") or []
            meta["finalizers"] = [*known, *(name for name in self._finalizers if name not in known)]
        try:
            return self._patch(resource, obj, meta)
        except NotFound:
            return None

    def _release(self, resource: GroupVersionResource, obj: Object) -> None:
        owners = [other for other in owners_of(obj) if other.get("uid") != uid_of(self._owner)]
        meta: Object = {"ownerReferences": owners or None}
        if self._finalizers:
            kept = [name for name in metadata(obj).get("finalizers") or [] if name not in self._finalizers]
            meta["finalizers"] = kept or None
        try:
            self._patch(resource, obj, meta)
        except (NotFound, Invalid):
            # It is gone, or another of the same name stands in its place (whose uid the patch does not fit).
            return

    def _patch(self, resource: GroupVersionResource, obj: Object, meta: Object) -> Object:
        # The lists are written whole: the version makes sure that no other reference is lost that came meanwhile.
        fixed = {"uid": uid_of(obj), "resourceVersion": resource_version_of(obj)}
        return self._client.patch(resource, name_of(obj), {"metadata": fixed | meta}, namespace_of(obj))

    def _check_owner(self) -> None:
        """Read the owner anew, once for all adoptions.

        Raises:
            NotYet: it was deleted or replaced meanwhile.
        """
        if not self._checked:
            self._refusal = self._look()
            self._checked = True
        if self._refusal is not None:
            raise self._refusal

    def _look(self) -> NotYet | None:
        """Return why the owner, as it is now, must not adopt."""
        owner = self._owner
        name = f"{namespace_of(owner)}/{name_of(owner)}"
        try:
            fresh = self._client.get(self._resource, name_of(owner), namespace_of(owner))
        except NotFound:
            return NotYet(f"original {self._kind} {name} is gone")
        if uid_of(fresh) != uid_of(owner):
            return NotYet(f"original {self._kind} {name} is gone: got uid {uid_of(fresh)}, wanted {uid_of(owner)}")
        if is_being_deleted(fresh):
            return NotYet(f"{name} has just been deleted at {metadata(fresh)['deletionTimestamp']}")
        return None
