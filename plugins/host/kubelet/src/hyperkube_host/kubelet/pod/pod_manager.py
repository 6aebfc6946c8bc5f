"""The pods of the node from all sources, and the mirrors by which static pods show in the API.

Source: kubernetes ``pkg/kubelet/pod/pod_manager.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.pod.restart_backoff import RestartBackoff, RestartDelays
from hyperkube_host.kubelet.types.pod_status import Failure, foreign_conditions, told_by_kubelet
from hyperkube_host.kubelet.types.pod_update import HASH_ANNOTATION, MIRROR_ANNOTATION, is_mirror, is_static

from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, key_of, metadata, uid_of

SYNC_SECONDS = 1.0
"""How long a removed pod's own sync has for beginning to stop its containers."""


class PodManager:
    """Pods by uid; implements `hyperkube_host.kubelet.config.sources.PodSink`."""

    def __init__(
        self,
        changed: Callable[[str], None],
        grace_shortened: Callable[[str, float], None],
        restart_delays: RestartDelays = RestartDelays(),  # noqa: B008  a value that cannot change
    ) -> None:
        """Call `changed` with a pod's uid after each change, `grace_shortened` when it has less time to stop.

        The latter is also told how many seconds may pass before the containers must hear of it.
        """
        self._restart_delays = restart_delays
        self._changed = changed
        self._grace_shortened = grace_shortened
        self._lock = threading.Lock()
        self._entries: dict[str, PodEntry] = {}
        self._mirrors: dict[str, Object] = {}

    def put(self, pod: Object) -> None:
        """Add a pod, or update it; a mirror pod counts as a change of its static pod."""
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
                entry = self._entries[uid] = PodEntry(pod, restarts=RestartBackoff(self._restart_delays))
            elif entry.removed:
                # Its manifest went and came back: it ends, and begins anew once nothing is left of it.
                entry.put_again = pod
                return
            before, entry.pod = entry.pod, pod
            is_echo = before is not pod and _is_echo_of_own_status(entry, before, pod)
            # A pod that is being deleted already waits in its worker for the containers: the shorter grace period must
            # reach the runtime beside it.
            shorter = is_being_deleted(before) and _grace(pod) < _grace(before)
        if shorter:
            self._grace_shortened(uid, 0.0)
        if not is_echo:
            self._changed(uid)

    def remove(self, pod: Object) -> None:
        """Note that the source does not have the pod any more."""
        uid, delays = uid_of(pod), dict[str, float]()
        with self._lock:
            if is_mirror(pod):
                self._mirrors.pop(key_of(pod), None)
                uids = [known for known, entry in self._entries.items() if key_of(entry.pod) == key_of(pod)]
            else:
                uids = [str(uid)] if uid in self._entries else []
                for known, entry in ((known, self._entries[known]) for known in uids):
                    # A worker that waits for containers already is told at once. Any other is to find them running, and
                    # to tell that it stops them; only one that is at something else for long is hurried, too.
                    delays[known] = 0.0 if entry.must_terminate else SYNC_SECONDS
                    entry.removed, entry.put_again = True, None
        for known in uids:
            if known in delays:
                self._grace_shortened(known, delays[known])
            self._changed(known)

    def give_up(self, pod: Object, failure: Failure, disruption: Object | None, grace_seconds: float) -> None:
        """Have a pod's worker stop it for good, within a grace period: it is Failed, and says why.

        Source: kubernetes ``pkg/kubelet/pod_workers.go`` (killPodNow).
        """
        uid = uid_of(pod)
        entry = self._entries.get(uid)
        if entry is None:
            return
        is_stopping = entry.must_terminate
        entry.grace_override = grace_seconds
        entry.disruption, entry.failure = disruption, failure
        if is_stopping:
            self._grace_shortened(uid, 0.0)
        self._changed(uid)

    def is_stopped(self, uid: str) -> bool:
        """Tell whether nothing of a pod runs here any more, and its volumes are given back."""
        entry = self._entries.get(uid)
        return entry is None or entry.state in {PodState.TERMINATED, PodState.REJECTED}

    def get(self, uid: str) -> PodEntry | None:
        """Return the entry of a pod."""
        return self._entries.get(uid)

    def observed(self, uid: str) -> frozenset[tuple[str, str]] | None:
        """Return the signature of what a pod's worker has seen of it in the runtime; None before it has looked."""
        entry = self._entries.get(uid)
        return None if entry is None else entry.observed

    def entries(self) -> list[PodEntry]:
        """Return all entries."""
        with self._lock:
            return list(self._entries.values())

    def active_pods(self) -> list[Object]:
        """Return the admitted pods whose containers run or will, also those that are being stopped."""
        return [entry.pod for entry in self.entries() if entry.is_active]

    def waiting_for_room(self) -> list[PodEntry]:
        """Return the pods that may fit once another one has ended: new ones, and those with a resize to come."""
        return [
            entry for entry in self.entries() if entry.state is PodState.PENDING or entry.resize_pending is not None
        ]

    def forget(self, uid: str) -> None:
        """Drop a pod that is gone; one that its source has again meanwhile is added anew."""
        with self._lock:
            entry = self._entries.pop(uid, None)
        if entry is not None and entry.put_again is not None:
            self.put(entry.put_again)

    def is_preceded(self, entry: PodEntry) -> bool:
        """Tell whether an earlier static pod of the same name has yet to end: ports and files are still its own.

        Source: kubernetes ``pkg/kubelet/pod_workers.go`` (allowStaticPodStart).
        """
        with self._lock:
            for other in self._entries.values():
                if other is entry:
                    break
                is_namesake = is_static(other.pod) and key_of(other.pod) == key_of(entry.pod)
                if is_namesake and other.state not in {PodState.TERMINATED, PodState.REJECTED}:
                    return True
        return False

    def mirror(self, pod: Object) -> Object | None:
        """Return the mirror of a static pod, if it shows this very pod."""
        found = self._mirrors.get(key_of(pod))
        if found is None or annotations_of(found).get(MIRROR_ANNOTATION) != annotations_of(pod).get(HASH_ANNOTATION):
            return None
        return found

    def status_target(self, pod: Object) -> Object | None:
        """Return the pod of the API that a status is written to; None for a static pod without a mirror."""
        return self.mirror(pod) if is_static(pod) else pod

    def stale_mirror(self, pod: Object) -> Object | None:
        """Return the mirror to delete: it is being deleted already, or shows another pod of that name."""
        found = self._mirrors.get(key_of(pod))
        if found is None or (self.mirror(pod) is not None and not is_being_deleted(found)):
            return None
        return found

    def orphaned_mirrors(self) -> list[Object]:
        """Return the mirrors whose static pods are gone."""
        with self._lock:
            static = {
                key_of(entry.pod) for entry in self._entries.values() if is_static(entry.pod) and not entry.removed
            }
            return [mirror for key, mirror in self._mirrors.items() if key not in static]


_METADATA = ("labels", "annotations", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


def _is_echo_of_own_status(entry: PodEntry, before: Object, after: Object) -> bool:
    """Tell whether an update contains no more than a status that this kubelet wrote.

    Without this each write of a status would cause another sync of the pod.
    """
    if before["spec"] != after["spec"]:
        return False
    if any(metadata(before).get(key) != metadata(after).get(key) for key in _METADATA):
        return False
    if foreign_conditions(before) != foreign_conditions(after):
        return False
    told = told_by_kubelet(after.get("status") or {})
    if told == told_by_kubelet(before.get("status") or {}):
        return True
    # Another component may write what is the kubelet's to say: of a node that is not ready, pods are marked so.
    own = [status for status in (entry.reported, entry.writing) if status is not None]
    return not own or any(told == told_by_kubelet(status) for status in own)


def _grace(pod: Object) -> float:
    return float(metadata(pod).get("deletionGracePeriodSeconds", float("inf")))
