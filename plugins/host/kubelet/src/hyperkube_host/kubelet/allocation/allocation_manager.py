"""In-place resizes of the pods of the node: granted, told of, and put in force.

Sources: kubernetes ``pkg/kubelet/allocation/allocation_manager.go`` (handlePodResourcesResize),
``pkg/kubelet/kubelet.go`` (SyncPod).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.allocation.state import AllocationState
from hyperkube_host.kubelet.container.pod_status import PodStatus
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.kuberuntime.resize_containers import ContainerResizer
from hyperkube_host.kubelet.pod.pod_entry import PodEntry
from hyperkube_host.kubelet.types.allocation import is_resized, with_allocation
from hyperkube_host.kubelet.types.pod_spec import containers_of, restartable_init_containers_of
from hyperkube_host.kubelet.types.resize import (
    INFEASIBLE,
    Change,
    InProgress,
    Pending,
    change_of,
    event_message,
)

from hyperkube.hookspecs.runtime import ContainerStatus, RuntimeFailed, SandboxStatus
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, metadata, uid_of
from hyperkube.machinery.times import format_time

if TYPE_CHECKING:
    from hyperkube_host.kubelet.kuberuntime.pod_actions import ContainerToKill

RESOURCES = ("memory", "cpu")


class AllocationManager:
    """Knows what each pod was granted; called by the worker of a pod, on one thread at a time for each."""

    def __init__(
        self,
        state: AllocationState,
        recorder: KubeletEventRecorder,
        grant: Callable[[PodEntry], Pending | None],
        resizer: ContainerResizer,
        clock: Clock,
    ) -> None:
        """Ask `grant` for the resources of a resized pod; it remembers them in `state` if there is room."""
        self._state = state
        self._recorder = recorder
        self._grant = grant
        self._resizer = resizer
        self._clock = clock

    def allocated(self, pod: Object) -> Object:
        """Return a pod with the resources that it was granted."""
        granted = self._state.get(str(uid_of(pod)))
        return pod if granted is None else with_allocation(pod, granted)

    def forget(self, uid: str) -> None:
        """Drop what is remembered of a pod that has ended."""
        self._state.remove(uid)

    def sync(self, entry: PodEntry, pod_status: PodStatus) -> None:
        """Grant a resize that the pod asks for, or say why not; note when one is in force."""
        granted = self._state.get(str(uid_of(entry.pod)))
        if granted is not None and is_resized(entry.pod, granted):
            self._resize(entry)
        else:
            entry.resize_pending = None
        is_complete = not self._changes(self.allocated(entry.pod), pod_status)
        generation = int(metadata(entry.pod).get("generation", 0))
        if not is_complete and entry.resize_in_progress is None:
            entry.resize_in_progress = InProgress(generation)
        elif is_complete and entry.resize_in_progress is not None:
            text = event_message("Pod resize completed", self.allocated(entry.pod), entry.resize_in_progress.generation)
            self._recorder.pod_event(entry.pod, "Normal", "ResizeCompleted", text)
            entry.resize_in_progress = entry.resized_from = None

    def _resize(self, entry: PodEntry) -> None:
        before = self._state.get(str(uid_of(entry.pod)))
        pending = self._grant(entry)
        generation = int(metadata(entry.pod).get("generation", 0))
        if pending is None:
            entry.resize_pending = None
            entry.resize_in_progress, entry.resized_from = InProgress(generation), before
            text = event_message("Pod resize started", entry.pod, generation)
            self._recorder.pod_event(entry.pod, "Normal", "ResizeStarted", text)
        elif entry.resize_pending is None or pending != entry.resize_pending._replace(since=""):
            entry.resize_pending = pending._replace(since=format_time(self._clock.now()))
            reason = "ResizeInfeasible" if pending.reason == INFEASIBLE else "ResizeDeferred"
            text = event_message(f"Pod resize {pending.cause}", entry.pod, generation, pending.message)
            self._recorder.pod_event(entry.pod, "Warning", reason, text)

    def conditions(self, entry: PodEntry) -> list[Object]:
        """Return the conditions of the pod's resize."""
        return [found.condition() for found in (entry.resize_pending, entry.resize_in_progress) if found is not None]

    def _changes(self, pod: Object, pod_status: PodStatus) -> list[tuple[Object, ContainerStatus, list[str], bool]]:
        """Return what is to change: container, its status, the resources, and whether that takes a restart."""
        found = []
        for container in (*restartable_init_containers_of(pod), *containers_of(pod)):
            status = pod_status.latest(container["name"])
            if status is None or not status.resources.get("linux"):
                continue
            wanted = self._resizer.linux_resources(pod, container)
            changes = {name: change_of(container, wanted, status, name) for name in RESOURCES}
            names = [name for name, change in changes.items() if change is not Change.NONE]
            if names:
                found.append((container, status, names, Change.RESTART in changes.values()))
        return found

    def restarts(self, pod: Object, pod_status: PodStatus) -> list[ContainerToKill]:
        """Return the containers that get their new resources by a restart."""
        from hyperkube_host.kubelet.kuberuntime.pod_actions import ContainerToKill

        return [
            ContainerToKill(status, f"Container {container['name']} resize requires restart")
            for container, status, _, restart in self._changes(pod, pod_status)
            if restart
        ]

    def actuate(self, entry: PodEntry, pod_status: PodStatus, sandbox: SandboxStatus) -> bool:
        """Put new resources in force in the containers that run; tell whether anything changed.

        Raises:
            RuntimeFailed: the runtime or the kernel refused; the condition tells why.
        """
        pod = self.allocated(entry.pod)
        changes = [change for change in self._changes(pod, pod_status) if not change[3]]
        if not changes:
            return False
        before = pod if entry.resized_from is None else with_allocation(entry.pod, entry.resized_from)
        try:
            for resource in RESOURCES:
                chosen = [(container, status) for container, status, names, _ in changes if resource in names]
                if chosen:
                    self._resizer.resize(before, pod, sandbox, resource, chosen)
        except RuntimeFailed as error:
            self._fail(entry, str(error))
            raise
        return True

    def _fail(self, entry: PodEntry, error: str) -> None:
        generation = int(metadata(entry.pod).get("generation", 0))
        failed = InProgress(generation, error)
        if entry.resize_in_progress != failed:
            entry.resize_in_progress = failed
            text = event_message("Pod resize error", self.allocated(entry.pod), generation, error)
            self._recorder.pod_event(entry.pod, "Warning", "ResizeError", text)
