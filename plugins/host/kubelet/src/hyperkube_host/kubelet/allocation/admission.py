"""Decides which pods the node takes: one at a time, and a critical pod may stop others to have room.

Source: kubernetes ``pkg/kubelet/kubelet.go`` (HandlePodAdditions), ``pkg/kubelet/lifecycle/predicate.go`` (Admit).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from hyperkube_host.kubelet.allocation.state import AllocationState
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.lifecycle.predicate import PodAdmission
from hyperkube_host.kubelet.pod.pod_entry import PodEntry, PodState
from hyperkube_host.kubelet.qos.policy import is_critical
from hyperkube_host.kubelet.types.allocation import Allocation, with_allocation
from hyperkube_host.kubelet.types.pod_status import Failure
from hyperkube_host.kubelet.types.resize import DEFERRED, INFEASIBLE, Pending, exceeds_node

from hyperkube.kinds.qos import BEST_EFFORT, qos_class
from hyperkube.machinery.objects import Object, metadata, uid_of


class AdmitHandler(Protocol):
    """Decides on a pod that the node has room for: its devices, its place among the CPUs."""

    def admit(self, pod: Object) -> Failure | None:
        """Return why the node cannot run the pod, or None; asked again after a restart of the kubelet."""


class Verdict(NamedTuple):
    """Whether a pod may run: with neither a failure nor a wait it may.

    Attributes:
        failure: why it may not.
        waits: other pods are being stopped to make room for it.
    """

    failure: Failure | None = None
    waits: bool = False


class Admission:
    """Admits pods; what it decides on a pod is set in its entry before the next one is looked at."""

    def __init__(
        self,
        predicate: PodAdmission,
        handlers: Iterable[AdmitHandler],
        entries: Callable[[], Iterable[PodEntry]],
        allocations: AllocationState,
        recorder: KubeletEventRecorder,
        sync_pod: Callable[[str], None],
        resize_problem: Callable[[Object, Object], str] = lambda _before, _pod: "",
    ) -> None:
        """Ask `predicate`, then `handlers`, and remember in `allocations` what is granted.

        `sync_pod` is called with the uid of each pod that has to make room, `resize_problem` with a pod as it was
        granted and as it wants to be: it returns why that cannot be on this node, or the empty string.
        """
        self._resize_problem = resize_problem
        self._predicate = predicate
        self._allocations = allocations
        self._handlers = tuple(handlers)
        self._entries = entries
        self._recorder = recorder
        self._sync_pod = sync_pod
        # Two pods that are checked side by side would both be given the room that is left for one.
        self._lock = threading.Lock()

    def admit(self, entry: PodEntry, *, is_running: bool) -> Verdict:
        """Decide on a pod and set the state of its entry.

        Args:
            entry: the pod.
            is_running: an earlier kubelet admitted it: room is not asked for again.
        """
        uid = str(uid_of(entry.pod))
        with self._lock:
            granted = self._allocations.get(uid)
            # What an earlier kubelet granted counts, whatever the pod asks for by now.
            pod = entry.pod if granted is None else with_allocation(entry.pod, granted)
            failure = None if is_running else self._predicate.check(pod)
            if failure is not None and is_critical(entry.pod) and self._make_room(entry):
                return Verdict(waits=True)
            failure = failure or self._first_failure(pod)
            entry.state = PodState.SYNCING if failure is None else PodState.REJECTED
            if failure is None and qos_class(pod) != BEST_EFFORT:  # without resources nothing can be resized
                self._allocations.set(uid, Allocation.of(pod))
            return Verdict(failure)

    def grant(self, entry: PodEntry) -> Pending | None:
        """Grant a pod the resources that it asks for by now, or return why not."""
        generation = int(metadata(entry.pod).get("generation", 0))
        with self._lock:
            granted = self._allocations.get(str(uid_of(entry.pod)))
            before = entry.pod if granted is None else with_allocation(entry.pod, granted)
            infeasible = self._resize_problem(before, entry.pod) or exceeds_node(entry.pod, self._predicate.node())
            if infeasible:
                return Pending(INFEASIBLE, infeasible, INFEASIBLE, generation)
            failure = self._predicate.check(entry.pod)
            if failure is not None:
                return Pending(DEFERRED, failure.message, failure.reason, generation)
            self._allocations.set(str(uid_of(entry.pod)), Allocation.of(entry.pod))
            return None

    def _first_failure(self, pod: Object) -> Failure | None:
        return next((found for found in (handler.admit(pod) for handler in self._handlers) if found), None)

    def _make_room(self, entry: PodEntry) -> bool:
        """Stop pods of less importance; tell whether there is something to wait for."""
        from hyperkube_host.kubelet.preemption.preemption import DISRUPTION, PREEMPTED, requested, victims

        others = [other for other in self._entries() if other.is_active and other is not entry]
        leaving = [other for other in others if other.must_terminate]
        staying = [other for other in others if not other.must_terminate]
        missing = self._predicate.missing(entry.pod)
        if not missing:
            return False
        # What pods that are being stopped already will leave need not be taken from others.
        going = [other.pod for other in leaving]
        missing = {name: amount - sum(requested(pod, name) for pod in going) for name, amount in missing.items()}
        found = victims(entry.pod, [other.pod for other in staying], {k: v for k, v in missing.items() if v > 0})
        if found is None:
            return False
        chosen = {uid_of(pod) for pod in found}
        for other in staying:
            if uid_of(other.pod) in chosen:
                self._recorder.pod_event(other.pod, "Warning", PREEMPTED.reason, PREEMPTED.message)
                other.disruption, other.failure = DISRUPTION, PREEMPTED
                self._sync_pod(uid_of(other.pod))
        return True
