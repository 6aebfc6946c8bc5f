"""Periodic cleaning: ended containers and the leftovers of removed pods are deleted, logs are rotated.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (HandlePodCleanups), ``pkg/kubelet/kuberuntime/kuberuntime_gc.go``
and ``pkg/kubelet/logs/container_log_manager.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from hyperkube_host.kubelet.container.pod_status import PodStatus, get_pod_statuses
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.logs.rotation import rotate
from hyperkube_host.kubelet.options import PodOptions
from hyperkube_host.kubelet.pod.pod_manager import PodManager

from hyperkube.hookspecs.runtime import ContainerNotFound, ContainerState, ContainerStatus, Runtime
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import uid_of

PERIOD_SECONDS = 30.0


class Housekeeping:
    """Cleans up; one call does one round."""

    def __init__(
        self,
        options: PodOptions,
        runtime: Runtime,
        pods: PodManager,
        sandboxes: SandboxManager,
        directories: KubeletDirectories,
        clock: Clock,
        remove_orphan_cgroups: Callable[[Iterable[str]], None],
    ) -> None:
        self._remove_orphan_cgroups = remove_orphan_cgroups
        self._options = options
        self._runtime = runtime
        self._pods = pods
        self._sandboxes = sandboxes
        self._directories = directories
        self._clock = clock

    def run(self) -> None:
        """Do one round; all sources must be ready, or running pods would count as orphans."""
        pod_statuses = get_pod_statuses(self._runtime)
        for uid, pod_status in pod_statuses.items():
            if self._pods.get(uid) is None:
                self.remove_pod(uid, pod_status)
        self._remove_orphan_cgroups([uid_of(entry.pod) for entry in self._pods.entries() if not entry.is_finished])
        for uid in self._directories.pod_uids():
            if self._pods.get(uid) is None and uid not in pod_statuses:
                self._directories.remove_pod(uid)
        for pod_status in pod_statuses.values():
            self._collect_garbage(pod_status)
            for status in pod_status.running():
                self._rotate(status)

    def remove_pod(self, uid: str, pod_status: PodStatus) -> None:
        """Remove all that is left of a pod: containers, sandboxes, logs, folder."""
        for sandbox in pod_status.sandboxes:
            self._sandboxes.remove(sandbox)
            self._directories.remove_pod_logs(sandbox.namespace, sandbox.name, uid)
        self._directories.remove_pod(uid)

    def _collect_garbage(self, pod_status: PodStatus) -> None:
        """Remove the oldest ended containers beyond the number to keep, and old sandboxes without containers."""
        keep = max(1, self._options.dead_containers_per_container)
        now = self._clock.now().timestamp()
        for statuses in pod_status.containers.values():
            ended = [status for status in statuses if status.state == ContainerState.EXITED]
            for status in ended[keep + (statuses[0].state == ContainerState.EXITED) :]:
                if now - status.finished_at >= self._options.dead_container_min_age_seconds:
                    self._runtime.remove_container(status.id)
                    if status.log_path:  # lists of containers need not tell it
                        Path(status.log_path).unlink(missing_ok=True)
        used = {status.sandbox_id for status in pod_status.all()}
        for sandbox in pod_status.sandboxes[1:]:
            if not sandbox.ready and sandbox.id not in used:
                self._sandboxes.remove(sandbox)

    def _rotate(self, status: ContainerStatus) -> None:
        if not status.log_path:
            return
        stamp = self._clock.now().strftime("%Y%m%d-%H%M%S")
        if rotate(Path(status.log_path), self._options.log_max_bytes, self._options.log_max_files, stamp):
            try:
                self._runtime.reopen_log(status.id)
            except ContainerNotFound:
                return  # it ended meanwhile; its log is complete
