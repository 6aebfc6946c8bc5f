"""The loop: looks at one object at a time, asks the server before it believes, then deletes, frees or waits.

Source of the rules: kubernetes ``pkg/controller/garbagecollector/garbagecollector.go``.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import field

from hyperkube_controller.garbagecollector.graph import FOREGROUND, ORPHAN, Graph, Node, are_alike, blocks

from hyperkube.client.client import Client
from hyperkube.client.discovery import ApiResource, discover
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, HyperkubeError, NotFound
from hyperkube.machinery.groups import GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource
from hyperkube.machinery.objects import Object, metadata, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

MONITORS = "@monitors"
RESYNC_SECONDS = 300.0
RECHECK_SECONDS = 60.0
SYNC_SECONDS = 30.0
MAX_WORKERS = 4
IGNORED = frozenset({GroupResource("", "events"), GroupResource("events.k8s.io", "events")})
_TYPES = frozenset({
    GroupResource("apiextensions.k8s.io", "customresourcedefinitions"),
    GroupResource("apiregistration.k8s.io", "apiservices"),
})  # fmt: skip
_KEPT = ("name", "namespace", "uid", "resourceVersion", "ownerReferences", "finalizers", "deletionTimestamp")


def metadata_only(obj: Object) -> Object:
    """Keep of an object what ownership needs: a few hundred bytes."""
    meta = metadata(obj)
    return {
        "apiVersion": obj.get("apiVersion", ""),
        "kind": obj.get("kind", ""),
        "metadata": {key: meta[key] for key in _KEPT if key in meta},
    }


class NamespacedOwner(HyperkubeError):
    """An object without a namespace names an owner that has one: nothing is ever done for its sake."""


@dataclass(slots=True)
class Owners:
    """An object's owner references by what they mean for it."""

    solid: list[Object] = field(default_factory=list)
    dangling: list[Object] = field(default_factory=list)
    waiting: list[Object] = field(default_factory=list)
    unseen: bool = False


class GarbageCollector:
    """The graph, the watches that feed it, and the loop that acts on it."""

    def __init__(
        self, client: Client, informers: InformerFactory, clock: Clock, logger: logging.Logger, workers: int
    ) -> None:
        self._client = client
        self._informers = informers
        self._clock = clock
        self._logger = logger
        self._stopping = threading.Event()
        self._recorder = EventRecorder(client, clock, "garbage-collector-controller")
        self._graph = Graph()
        self._lock = threading.Lock()
        self._monitors: dict[GroupVersionResource, Informer] = {}
        self._kinds: dict[GroupKind, ApiResource] = {}
        self._served: set[GroupVersionKind] = set()
        self._opening: threading.Thread | None = None
        self._loop = ReconcileLoop("garbagecollector", self._sync, clock=clock, logger=logger, workers=workers)

    def begin(self) -> None:
        """Watch everything, then work until `stop`, on threads that come and go; returns at once."""
        self._opening = threading.Thread(target=self._open, name="garbagecollector-monitors", daemon=True)
        self._opening.start()

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait until what `stop` ended has ended, at most so long; tell whether it is so."""
        if self._opening is not None:
            self._opening.join(seconds)
            if self._opening.is_alive():
                return False
        return self._loop.wait_ended(seconds)

    def run(self) -> None:
        """Watch everything, then work until `stop`: for those who have a thread that waits for it."""
        self._open()
        self._loop.wait_ended()

    def _open(self) -> None:
        while not self._stopping.is_set():
            try:
                self._sync_monitors()
                break
            except (ApiError, OSError) as error:
                self._logger.warning("cannot find out what to watch: %s", error)
            except Exception:  # this thread opens the whole controller: a bug is told of, and tried again
                self._logger.exception("cannot find out what to watch")
            self._clock.wait(self._stopping, 1.0)
        self._await_first_lists()
        self._loop.queue.add_after(MONITORS, RESYNC_SECONDS)
        self._loop.begin()

    def _await_first_lists(self) -> None:
        """Know the owners before judging the dependents; what takes longer is asked for one by one."""
        deadline = self._clock.monotonic() + SYNC_SECONDS
        for informer in [*self._monitors.values()]:
            while not informer.has_synced():
                if self._clock.wait(self._stopping, 0.05) or self._clock.monotonic() > deadline:
                    return

    def stop(self) -> None:
        """End the loop."""
        self._stopping.set()
        self._loop.stop()

    def drain(self) -> int:
        """Do what is to be done now, on this thread."""
        began = not self._monitors
        if began:
            self._sync_monitors()
            self._loop.queue.add_after(MONITORS, RESYNC_SECONDS)
        return self._loop.drain() + began

    def _sync(self, key: str) -> float | None:
        if key == MONITORS:
            self._sync_monitors()
            return RESYNC_SECONDS
        node = self._graph.get(key)
        return None if node is None else self._look(node)

    def _sync_monitors(self) -> None:
        """Watch what the server serves now, and forget what it serves no more."""
        found = discover(self._client)
        wanted: dict[GroupVersionResource, ApiResource] = {}
        for resource in found.resources:
            if {"delete", "list", "watch"} <= resource.verbs and resource.gvr.group_resource not in IGNORED:
                wanted[resource.gvr] = resource
        with self._lock:
            unsure = {GroupVersion.parse(version) for version in found.failed}
            kept = {kind for kind in self._served if GroupVersion(kind.group, kind.version) in unsure}
            served, known = kept | found.kinds, {kind.group_kind for kind in kept}
            kinds = {kind: resource for kind, resource in self._kinds.items() if kind in known}
            kinds |= {resource.group_kind: resource for resource in found.resources}
            if (served, kinds) != (self._served, self._kinds):  # equal ones would only lie elsewhere
                self._served, self._kinds = served, kinds
            gone = [
                gvr
                for gvr in self._monitors
                if gvr not in wanted and GroupVersion(gvr.group, gvr.version) not in unsure
            ]
            stale = [(gvr, self._monitors.pop(gvr)) for gvr in gone]
            fresh = [self._monitor(gvr) for gvr in wanted if gvr not in self._monitors]
        for gvr, informer in stale:
            self._informers.discard(informer)
            for node in self._graph.of_resource(gvr):
                self._enqueue(self._graph.remove(node.uid, is_gone=False))
        for informer in fresh:
            self._subscribe(informer)

    def _monitor(self, resource: GroupVersionResource) -> Informer:
        """Return the informer of a resource: one that is there anyway, else a small one of our own."""
        informer = self._informers.find(resource)
        if informer is None:
            informer = self._informers.informer(resource, project=metadata_only)
        self._monitors[resource] = informer
        return informer

    def _subscribe(self, informer: Informer) -> None:
        resource = informer.resource
        changes_types = resource.group_resource in _TYPES

        def seen(obj: Object) -> None:
            self._enqueue(self._graph.put(Node.of(resource, obj)))
            if changes_types:
                self._loop.queue.add_after(MONITORS, 0.2)

        def gone(obj: Object) -> None:
            self._enqueue(self._graph.remove(uid_of(obj)))
            if changes_types:
                self._loop.queue.add_after(MONITORS, 0.2)

        def changed(old: Object, new: Object) -> None:
            # Most changes are of statuses and leases, in which nothing belongs to anything else than before.
            if changes_types or not are_alike(old, new) or self._graph.get(uid_of(new)) is None:
                seen(new)

        informer.add_handler(seen, changed, gone)

    def _enqueue(self, uids: set[str]) -> None:
        for uid in uids:
            self._loop.queue.add(uid)

    def _look(self, node: Node) -> float | None:
        """Bring one object to where its owners and its own deletion want it."""
        if node.orphans:
            self._set_free(node)
            return None
        if node.deletes_dependents_first:
            self._await_dependents(node)
            return None
        if node.deleting or not node.owners:
            return None
        latest = self._latest(node)
        if latest is None:
            return None
        try:
            owners = self._classify(node, metadata(latest).get("ownerReferences") or [])
        except NamespacedOwner:
            return None
        if owners.solid:
            self._drop_references(node, latest, owners)
        elif owners.dangling or owners.waiting:
            self._delete(node, latest, owners)
        return RECHECK_SECONDS if owners.unseen else None

    def _latest(self, node: Node) -> Object | None:
        """Return the object from the server, or None when it is gone, or another one has its name."""
        try:
            latest = self._client.get(node.resource, node.name, node.namespace)
        except NotFound:
            latest = {}
        if uid_of(latest) == node.uid:
            return latest
        self._enqueue(self._graph.remove(node.uid))
        return None

    def _classify(self, node: Node, references: list[Object]) -> Owners:
        """Sort the references of an object by what they mean for it.

        Raises:
            NotYet: an owner's kind is not served in that version.
            NamespacedOwner: the object has no namespace, an owner of it has one.
        """
        owners = Owners()
        for reference in references:
            owner = self._graph.get(reference["uid"])
            if owner is not None and not owner.is_meant_by(reference):
                owner = None  # no such object, whatever has the uid; the server has the last word
            if owner is not None and owner.namespace and owner.namespace != node.namespace:
                self._warn(node, reference)
                if not node.namespace:
                    raise NamespacedOwner
                owners.dangling.append(reference)
            elif owner is not None:
                (owners.waiting if owner.deletes_dependents_first else owners.solid).append(reference)
            elif self._exists(node, reference):
                owners.solid.append(reference)
                owners.unseen = True
            else:
                owners.dangling.append(reference)
        return owners

    def _exists(self, node: Node, reference: Object) -> bool:
        """Ask the server whether an owner that no watch has shown is there.

        Raises:
            NotYet: the owner's kind is not served in that version.
            NamespacedOwner: it cannot be, and no retry changes that.
        """
        version = GroupVersion.parse(reference.get("apiVersion", ""))
        kind = GroupVersionKind(version.group, version.version, reference.get("kind", ""))
        resource = self._kinds.get(kind.group_kind)
        if resource is None or kind not in self._served:
            self._loop.queue.add_after(MONITORS, 1.0)
            raise NotYet(f"owner {reference['name']!r} of {node.name!r} is of unknown kind {kind}")
        if resource.namespaced and not node.namespace:
            raise NamespacedOwner
        namespace = node.namespace if resource.namespaced else ""
        identity = (reference["uid"], resource.gvr.group_resource, namespace, reference["name"])
        if self._graph.is_absent(identity):
            return False
        try:
            owner = self._client.get(resource.gvr, reference["name"], namespace)
        except NotFound:
            owner = {}
        if uid_of(owner) == reference["uid"]:
            return True
        self._graph.note_absent(identity)
        return False

    def _warn(self, node: Node, reference: Object) -> None:
        about = {"namespace": node.namespace, "name": node.name, "uid": node.uid, "kind": self._kind_of(node),
                 "apiVersion": node.resource.api_version}  # fmt: skip
        message = (
            f"ownerRef [{reference.get('apiVersion')}/{reference.get('kind')}, namespace: {node.namespace}, name: "
            f'{reference.get("name")}, uid: {reference.get("uid")}] does not exist in namespace "{node.namespace}"'
        )
        self._recorder.event(about, "Warning", "OwnerRefInvalidNamespace", message)

    def _kind_of(self, node: Node) -> str:
        for kind, resource in self._kinds.items():
            if resource.gvr == node.resource:
                return kind.kind
        return ""

    def _drop_references(self, node: Node, latest: Object, owners: Owners) -> None:
        """Take the owners that are gone, or that wait for this object, off one that another owner still holds."""
        if owners.dangling or owners.waiting:
            self._patch(node, {"ownerReferences": owners.solid, **_pinned(latest)})

    def _delete(self, node: Node, latest: Object, owners: Owners) -> None:
        finalizers = metadata(latest).get("finalizers") or []
        dependents = self._graph.dependents(node.uid)
        if owners.waiting and dependents:
            if any(dependent.deletes_dependents_first for dependent in dependents):
                # A circle of foreground deletions would wait for itself for ever.
                references = metadata(latest)["ownerReferences"]
                freed = [{**ref, "blockOwnerDeletion": False} if blocks(ref) else ref for ref in references]
                self._patch(node, {"ownerReferences": freed, **_pinned(latest)})
                latest = self._client.get(node.resource, node.name, node.namespace)
            policy = "Foreground"
        elif ORPHAN in finalizers:
            policy = "Orphan"
        elif FOREGROUND in finalizers:
            policy = "Foreground"
        else:
            policy = "Background"
        meta = metadata(latest)
        options = {
            "preconditions": {"uid": node.uid, "resourceVersion": meta["resourceVersion"]},
            "propagationPolicy": policy,
        }
        try:
            self._client.delete(node.resource, node.name, node.namespace, options=options)
        except NotFound:
            self._enqueue(self._graph.remove(node.uid))

    def _await_dependents(self, node: Node) -> None:
        """Let an object go once no dependent blocks it; else see that the dependents go."""
        blocking = [dependent for dependent in self._graph.dependents(node.uid) if dependent.blocks(node.uid)]
        if not blocking:
            self._remove_finalizer(node, FOREGROUND)
            return
        self._enqueue({dependent.uid for dependent in blocking if not dependent.deletes_dependents_first})

    def _set_free(self, node: Node) -> None:
        """Take the owner off all its dependents, then let it go."""
        for dependent in self._graph.dependents(node.uid):
            latest = self._latest(dependent)
            references = metadata(latest or {}).get("ownerReferences") or []
            left = [ref for ref in references if ref.get("uid") != node.uid]
            if latest is not None and left != references:
                self._patch(dependent, {"ownerReferences": left, **_pinned(latest)})
        self._remove_finalizer(node, ORPHAN)

    def _remove_finalizer(self, node: Node, finalizer: str) -> None:
        latest = self._latest(node)
        finalizers = metadata(latest or {}).get("finalizers") or []
        if latest is not None and finalizer in finalizers:
            left = [name for name in finalizers if name != finalizer]
            self._patch(node, {"finalizers": left, **_pinned(latest)})

    def _patch(self, node: Node, change: Object) -> None:
        try:
            self._client.patch(node.resource, node.name, {"metadata": change}, node.namespace)
        except NotFound:
            return  # gone, which is as good
        except ApiError as error:
            self._logger.debug("cannot change %s %r: %s", node.resource.resource, node.name, error)
            raise


def _pinned(latest: Object) -> Object:
    """Return what makes a patch fail when the object has changed meanwhile."""
    meta = metadata(latest)
    return {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}


class Settings(Record):
    """How many objects are looked at at once."""

    concurrent_gc_syncs: int = 20


class Garbagecollector(Plugin):
    """Deletes what belongs to deleted owners."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the collector; it finds out what to watch when it runs, when all other informers are known."""
        wanted = self.settings(Settings).concurrent_gc_syncs
        # more threads than these only wait for one another in one process
        workers = min(wanted, MAX_WORKERS)
        return GarbageCollector(self.client, self.informers, self.context.clock, self.context.logger, workers)
