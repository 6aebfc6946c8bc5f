"""All pods of the node, from all sources, and the mirrors by which static pods show in the API.

Source of the mirrors' rules: kubernetes ``pkg/kubelet/pod/{pod_manager,mirror_client}.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube_host.kubelet.pod_entry import HASH_ANNOTATION, MIRROR_ANNOTATION, PodEntry, is_mirror, is_static
from hyperkube_host.kubelet.pod_status import OWNED

from hyperkube.client.client import Client
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    key_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)


class PodTable:
    """Pods by uid; implements `hyperkube_host.kubelet.sources.PodSink`."""

    def __init__(self, changed: Callable[[str], None], hurry: Callable[[str], None]) -> None:
        """Call `changed` with a pod's uid after each change, `hurry` when a grace period became shorter."""
        self._changed = changed
        self._hurry = hurry
        self._lock = threading.Lock()
        self._entries: dict[str, PodEntry] = {}
        self._mirrors: dict[str, Object] = {}

    def put(self, pod: Object) -> None:
        """Take a pod in, or its new shape; a mirror changes its static pod."""
        if is_mirror(pod):
            with self._lock:
                self._mirrors[key_of(pod)] = pod
                uids = [
                    uid
                    for uid, entry in self._entries.items()
                    if is_static(entry.pod) and key_of(entry.pod) == key_of(pod)
                ]
            for uid in uids or [str(uid_of(pod))]:
                self._changed(uid)
            return
        uid = uid_of(pod)
        with self._lock:
            entry = self._entries.get(uid)
            if entry is None:
                entry = self._entries[uid] = PodEntry(pod)
            before, entry.pod = entry.pod, pod
            same = before is not pod and _only_our_status_changed(before, pod)
            shorter = is_being_deleted(before) and _grace(pod) < _grace(before)
        if shorter:
            self._hurry(uid)
        if not same:
            self._changed(uid)

    def remove(self, pod: Object) -> None:
        """Note that the source has the pod no more."""
        uid = uid_of(pod)
        with self._lock:
            if is_mirror(pod):
                self._mirrors.pop(key_of(pod), None)
                uids = [known for known, entry in self._entries.items() if key_of(entry.pod) == key_of(pod)]
            else:
                uids = [str(uid)] if uid in self._entries else []
                for entry in (self._entries[known] for known in uids):
                    entry.removed = True
        for known in uids:
            if not is_mirror(pod):
                self._hurry(known)
            self._changed(known)

    def get(self, uid: str) -> PodEntry | None:
        """Return the entry of a pod."""
        return self._entries.get(uid)

    def entries(self) -> list[PodEntry]:
        """Return all entries."""
        with self._lock:
            return list(self._entries.values())

    def active(self) -> list[Object]:
        """Return the admitted pods whose containers run or will."""
        return [entry.pod for entry in self.entries() if entry.admitted and not entry.ended and not entry.complete]

    def forget(self, uid: str) -> None:
        """Drop a pod that is gone."""
        with self._lock:
            self._entries.pop(uid, None)

    def mirror(self, pod: Object) -> Object | None:
        """Return the mirror of a static pod, if it shows this very pod."""
        found = self._mirrors.get(key_of(pod))
        if found is None or annotations_of(found).get(MIRROR_ANNOTATION) != annotations_of(pod).get(HASH_ANNOTATION):
            return None
        return found

    def target(self, pod: Object) -> Object | None:
        """Return the pod of the API that a status is written to."""
        return self.mirror(pod) if is_static(pod) else pod

    def stale_mirror(self, pod: Object) -> Object | None:
        """Return a mirror in the API that has to go: it is being deleted, or shows another pod of that name."""
        found = self._mirrors.get(key_of(pod))
        if found is None or (self.mirror(pod) is not None and not is_being_deleted(found)):
            return None
        return found

    def orphaned_mirrors(self) -> list[Object]:
        """Return the mirrors that show no pod of this node any more."""
        with self._lock:
            static = {
                key_of(entry.pod) for entry in self._entries.values() if is_static(entry.pod) and not entry.removed
            }
            return [mirror for key, mirror in self._mirrors.items() if key not in static]


_WATCHED = ("labels", "annotations", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def _only_our_status_changed(before: Object, after: Object) -> bool:
    """Tell whether an update is no more than the echo of our own report."""
    if before["spec"] != after["spec"]:
        return False
    if any(metadata(before).get(key) != metadata(after).get(key) for key in _WATCHED):
        return False
    return _foreign_conditions(before) == _foreign_conditions(after)


def _foreign_conditions(pod: Object) -> list[Object]:
    return [c for c in (pod.get("status") or {}).get("conditions") or [] if c.get("type") not in OWNED]


def _grace(pod: Object) -> float:
    return float(metadata(pod).get("deletionGracePeriodSeconds", float("inf")))


def delete_mirror(client: Client, mirror: Object) -> None:
    """Take a mirror out of the API.

    Raises:
        ApiError: the API server refuses.
    """
    options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid_of(mirror)}}
    try:
        client.delete(PODS, name_of(mirror), namespace_of(mirror), options=options)
    except NotFound:
        return  # gone already


def create_mirror(client: Client, pod: Object, node: Object) -> Object | None:
    """Show a static pod in the API; return its mirror, None when there is one of that name.

    Raises:
        ApiError: the API server refuses.
    """
    meta = {key: value for key, value in metadata(pod).items() if key != "uid"}
    meta["annotations"] = {**annotations_of(pod), MIRROR_ANNOTATION: annotations_of(pod)[HASH_ANNOTATION]}
    if uid_of(node):
        owner = {"apiVersion": "v1", "kind": "Node", "name": name_of(node), "uid": uid_of(node), "controller": True}
        meta["ownerReferences"] = [owner]
    mirror = {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": pod["spec"]}
    try:
        return client.create(PODS, mirror, namespace_of(pod))
    except AlreadyExists:
        return None
