"""Periodic cleaning: ended containers and the leftovers of removed pods are deleted.

Sources: kubernetes ``pkg/kubelet/kubelet_pods.go`` (HandlePodCleanups), ``pkg/kubelet/kuberuntime/kuberuntime_gc.go``
(also evictPodLogsDirectories).
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable

from hyperkube_host.kubelet.container.pod_status import PodStatus, get_pod_statuses
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.kuberuntime.container_gc import ContainerGC
from hyperkube_host.kubelet.kuberuntime.sandbox import SandboxManager
from hyperkube_host.kubelet.pod.pod_entry import PodState
from hyperkube_host.kubelet.pod.pod_manager import PodManager
from hyperkube_host.kubelet.volumemanager.volume_manager import VolumeManager

from hyperkube.hookspecs.network import NetworkFailed
from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.objects import uid_of

PERIOD_SECONDS = 30.0

_log = logging.getLogger("hyperkube.kubelet")


class Housekeeping:
    """Cleans up; one call does one round."""

    def __init__(
        self,
        runtime: Runtime,
        pods: PodManager,
        sandboxes: SandboxManager,
        directories: KubeletDirectories,
        container_gc: ContainerGC,
        remove_orphan_cgroups: Callable[[Iterable[str]], None],
        volumes: VolumeManager | None,
    ) -> None:
        self._volumes = volumes
        self._devices_are_clean = False
        self._remove_orphan_cgroups = remove_orphan_cgroups
        self._runtime = runtime
        self._pods = pods
        self._sandboxes = sandboxes
        self._directories = directories
        self._container_gc = container_gc

    def run(self) -> None:
        """Do one round; all sources must be ready, or running pods would count as orphans."""
        self._sandboxes.collect_network_garbage()
        pod_statuses = get_pod_statuses(self._runtime)
        for uid, pod_status in pod_statuses.items():
            if self._pods.get(uid) is None:
                self._try_remove_pod(uid, pod_status)
        self._remove_orphan_cgroups([uid_of(entry.pod) for entry in self._pods.entries() if not entry.is_finished])
        for uid in self._directories.pod_uids():
            if self._pods.get(uid) is None and uid not in pod_statuses:
                self._remove_folder(uid)
        for uid, folder in self._directories.log_folders():
            if self._pods.get(uid) is None and uid not in pod_statuses:
                shutil.rmtree(folder, ignore_errors=True)  # of a pod that went while no kubelet ran
        self._clean_up_devices()
        self._container_gc.collect(pod_statuses)
        for pod_status in pod_statuses.values():
            self._remove_empty_sandboxes(pod_status)

    def _try_remove_pod(self, uid: str, pod_status: PodStatus) -> None:
        try:
            self.remove_pod(uid, pod_status)
        except NetworkFailed as error:  # the next round tries again; that of the other pods goes on
            _log.warning("pod %s: %s", uid, error)

    def _clean_up_devices(self) -> None:
        """Unmount, once after a start, what an earlier kubelet left mounted for pods that are gone."""
        if self._volumes is None or self._devices_are_clean:
            return
        ended = (PodState.TERMINATED, PodState.REJECTED)
        # Only now it is known which devices the pods have that ran on without a kubelet.
        if all(entry.volumes_are_ready or entry.state in ended for entry in self._pods.entries()):
            self._volumes.unmount_unused_devices()
            self._devices_are_clean = True

    def remove_pod(self, uid: str, pod_status: PodStatus) -> None:
        """Remove all that is left of a pod: containers, sandboxes, logs, folder."""
        for sandbox in pod_status.sandboxes:
            self._sandboxes.remove(sandbox)
            self._directories.remove_pod_logs(sandbox.namespace, sandbox.name, uid)
        self._remove_folder(uid)

    def _remove_folder(self, uid: str) -> None:
        """Remove a pod's folder, after its volumes: what is mounted below is not the pod's to delete."""
        if self._volumes is None:
            self._directories.remove_pod(uid)
        elif self._directories.pod(uid).exists():
            self._volumes.clean_up(uid)

    def _remove_empty_sandboxes(self, pod_status: PodStatus) -> None:
        """Remove old sandboxes that no container is in any more."""
        used = {status.sandbox_id for status in pod_status.all()}
        for sandbox in pod_status.sandboxes[1:]:
            if not sandbox.ready and sandbox.id not in used:
                self._sandboxes.remove(sandbox)
