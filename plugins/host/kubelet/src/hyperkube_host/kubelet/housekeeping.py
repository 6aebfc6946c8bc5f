"""What is done from time to time: ended containers and pods' leftovers removed, logs rotated.

Sources: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_gc.go`` and ``pkg/kubelet/logs/container_log_manager.go``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from hyperkube_host.kubelet.log_files import rotate
from hyperkube_host.kubelet.observation import Observed, observe_all
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pod_table import PodTable
from hyperkube_host.kubelet.sandboxes import Sandboxes
from hyperkube_host.kubelet.volumes import PodVolumes

from hyperkube.hookspecs.runtime import ContainerNotFound, ContainerStatus, Runtime
from hyperkube.machinery.clock import Clock

PERIOD_SECONDS = 30.0


class Housekeeping:
    """Cleans up; one call does one round."""

    def __init__(
        self,
        options: KubeletOptions,
        runtime: Runtime,
        table: PodTable,
        sandboxes: Sandboxes,
        volumes: PodVolumes,
        clock: Clock,
    ) -> None:
        self._options = options
        self._runtime = runtime
        self._table = table
        self._sandboxes = sandboxes
        self._volumes = volumes
        self._clock = clock

    def work(self) -> None:
        """Do one round; the sources must have been seen, or running pods would count as orphans."""
        seen = observe_all(self._runtime)
        for uid, observed in seen.items():
            if self._table.get(uid) is None:
                self.bury(uid, observed)
        for uid in self._volumes.folders():
            if self._table.get(uid) is None and uid not in seen:
                self._volumes.remove_folder(uid)
        for observed in seen.values():
            self._collect(observed)
            for status in observed.running():
                self._rotate(status)

    def bury(self, uid: str, observed: Observed) -> None:
        """Remove all that is left of a pod: containers, sandboxes, logs, folder."""
        for sandbox in observed.sandboxes:
            self._sandboxes.remove(sandbox)
            folder = self._options.root / "logs" / f"{sandbox.namespace}_{sandbox.name}_{uid}"
            shutil.rmtree(folder, ignore_errors=True)
        self._volumes.remove_folder(uid)

    def _collect(self, observed: Observed) -> None:
        """Remove ended containers beyond those kept for a look back, and sandboxes that hold none."""
        keep = max(1, self._options.dead_per_container)
        now = self._clock.now().timestamp()
        for statuses in observed.containers.values():
            ended = [status for status in statuses if status.state == "exited"]
            for status in ended[keep + (statuses[0].state == "exited") :]:
                if now - status.finished_at >= self._options.dead_min_age_seconds:
                    self._runtime.remove_container(status.id)
                    Path(status.log_path).unlink(missing_ok=True)
        used = {status.sandbox_id for status in observed.all()}
        for sandbox in observed.sandboxes[1:]:
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
