"""Who belongs to whom: every object of the cluster by uid, with its owners and its dependents.

The graph is fed by watches and answers each change with the uids that must be looked at again. It does no I/O.
Source of the behaviour: kubernetes ``pkg/controller/garbagecollector/graph_builder.go``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from sys import intern

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.groups import GroupResource, GroupVersion, GroupVersionResource
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of, namespace_of, uid_of
from hyperkube.machinery.recent import forgets

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_ABSENT_KEPT = 500

Identity = tuple[str, GroupResource, str, str]
"""(uid, resource, namespace, name): a reference that is wrong in one of them must not speak for others."""


@dataclass(frozen=True, slots=True)
class Node:
    """One object, as much of it as matters here."""

    resource: GroupVersionResource
    namespace: str
    name: str
    uid: str
    owners: tuple[Object, ...]
    finalizers: tuple[str, ...]
    deleting: bool
    kind: str = ""

    @classmethod
    def of(cls, resource: GroupVersionResource, obj: Object) -> Node:
        """Return the node of an object: nothing but its name and uid are its own, as a cluster has many nodes."""
        meta = metadata(obj)
        return cls(
            resource,
            intern(namespace_of(obj)),
            name_of(obj),
            uid_of(obj),
            tuple(meta.get("ownerReferences") or ()),
            tuple(map(intern, meta.get("finalizers") or ())),
            is_being_deleted(obj),
            intern(str(obj.get("kind") or "")),
        )

    @property
    def identity(self) -> Identity:
        """What must be the same in a reference for it to mean this object."""
        return self.uid, self.resource.group_resource, self.namespace, self.name

    @property
    def deletes_dependents_first(self) -> bool:
        """Whether it is being deleted in the foreground: it waits for its dependents."""
        return self.deleting and FOREGROUND in self.finalizers

    @property
    def orphans(self) -> bool:
        """Whether it is being deleted and wants its dependents set free."""
        return self.deleting and ORPHAN in self.finalizers

    def is_meant_by(self, reference: Object) -> bool:
        """Tell whether an owner reference with this node's uid names it as it is called, and by its kind."""
        group = GroupVersion.parse(reference.get("apiVersion", "")).group
        kind_fits = not self.kind or (self.resource.group, self.kind) == (group, reference.get("kind"))
        return kind_fits and reference.get("name") == self.name

    def blocks(self, owner_uid: str) -> bool:
        """Tell whether that owner must not go before this one."""
        return any(ref.get("uid") == owner_uid and blocks(ref) for ref in self.owners)


def blocks(reference: Object) -> bool:
    """Tell whether a reference holds its owner back while that is deleted in the foreground."""
    return reference.get("blockOwnerDeletion") is True


def are_alike(old: Object, new: Object) -> bool:
    """Tell whether two states of an object are the same node, whose name, namespace and kind never change."""
    before, after = metadata(old).get, metadata(new).get
    return bool(
        before("uid") == after("uid")
        and before("ownerReferences") == after("ownerReferences")
        and before("finalizers") == after("finalizers")
        and before("deletionTimestamp") == after("deletionTimestamp")
    )


class Graph:
    """All nodes; thread-safe."""

    def __init__(self, absent_kept: int = _ABSENT_KEPT) -> None:
        self._absent_kept = absent_kept
        self._lock = threading.RLock()
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, set[str]] = {}
        self._absent: OrderedDict[Identity, None] = OrderedDict()
        forgets(self)

    def forget(self) -> None:
        """Forget what is known to be gone: it is looked for again."""
        with self._lock:
            self._absent = OrderedDict()

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> Node | None:
        """Return the node of a uid, or None."""
        return self._nodes.get(uid)

    def dependents(self, uid: str) -> list[Node]:
        """Return the objects that name `uid` as an owner."""
        with self._lock:
            return [self._nodes[each] for each in self._dependents.get(uid, ()) if each in self._nodes]

    def of_resource(self, resource: GroupVersionResource) -> list[Node]:
        """Return the nodes of one resource."""
        with self._lock:
            return [node for node in self._nodes.values() if node.resource == resource]

    def is_absent(self, identity: Identity) -> bool:
        """Tell whether an object is known to be gone; it is the longer remembered for it."""
        with self._lock:
            if identity not in self._absent:
                return False
            self._absent.move_to_end(identity)
            return True

    def note_absent(self, identity: Identity) -> None:
        """Remember that there is no such object: uids are never used again."""
        with self._lock:
            self._absent[identity] = None
            while len(self._absent) > self._absent_kept:
                self._absent.popitem(last=False)

    def put(self, node: Node) -> set[str]:
        """Hold a new or changed object; return the uids to look at."""
        with self._lock:
            old = self._nodes.get(node.uid)
            if old == node:
                return set()
            node = self._sharing_owners(node, old)
            self._nodes[node.uid] = node
            self._absent.pop(node.identity, None)
            look = self._relink(node.uid, old.owners if old is not None else (), node.owners)
            changed = old is None or old.owners != node.owners
            if node.orphans or (changed and any(self._may_release(node, ref) for ref in node.owners)):
                look.add(node.uid)
            if node.deletes_dependents_first:
                look |= {node.uid} | self._dependents.get(node.uid, set())
            return look

    def _sharing_owners(self, node: Node, old: Node | None) -> Node:
        """Return the node with the owner references of its earlier self or of a dependent of its owner, if equal."""
        if not node.owners:
            return node
        sibling = next(iter(self._dependents.get(node.owners[0]["uid"], ())), "")
        for known in (old, self._nodes.get(sibling)):
            if known is not None and known.owners == node.owners:
                return replace(node, owners=known.owners)
        return node

    def _may_release(self, node: Node, reference: Object) -> bool:
        """Tell whether an owner may be no reason to keep the node: unknown, misnamed, elsewhere, or waiting for it."""
        owner = self._nodes.get(reference["uid"])
        if owner is None or owner.deletes_dependents_first or not owner.is_meant_by(reference):
            return True
        return bool(owner.namespace) and owner.namespace != node.namespace

    def remove(self, uid: str, *, is_gone: bool = True) -> set[str]:
        """Let go of an object; return the uids to look at: its dependents, and owners that waited for it.

        Args:
            uid: of the object.
            is_gone: it was deleted; else it is only that it can be seen no more.
        """
        with self._lock:
            node = self._nodes.pop(uid, None)
            if node is not None and is_gone:
                self.note_absent(node.identity)
            look = set(self._dependents.get(uid, ()))
            if node is not None:
                look |= self._relink(uid, node.owners, ())
            return look

    def _relink(self, uid: str, before: tuple[Object, ...], after: tuple[Object, ...]) -> set[str]:
        """Move a dependent between its owners; return the owners that may have waited for the change."""
        old, new = {ref["uid"] for ref in before}, {ref["uid"] for ref in after}
        for owner in old - new:
            dependents = self._dependents.get(owner, set())
            dependents.discard(uid)
            if not dependents:
                self._dependents.pop(owner, None)
        for owner in new - old:
            self._dependents.setdefault(owner, set()).add(uid)
        if before == after:
            return set()
        return {owner for owner in old | new if (node := self._nodes.get(owner)) and node.deletes_dependents_first}
