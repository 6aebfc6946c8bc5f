"""The cgroups of pods: one for each, in that of its QoS class.

Source: kubernetes ``pkg/kubelet/cm/pod_container_manager_linux.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hyperkube_host.kubelet.cm.cgroup_manager import CgroupManager, kill_processes
from hyperkube_host.kubelet.cm.cgroup_name import (
    POD_PREFIX,
    SYSTEMD,
    CgroupName,
    new_cgroup_name,
    pod_cgroup_part,
    show_cgroup_name,
)
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.qos.resource_config import QUOTA_PERIOD, ResourceConfig, resource_config_for_pod

from hyperkube.kinds.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record


class QosContainers(NamedTuple):
    """The cgroups of the QoS classes; guaranteed pods are directly in the root of pods."""

    guaranteed: CgroupName
    burstable: CgroupName
    best_effort: CgroupName

    @classmethod
    def below(cls, root: CgroupName) -> QosContainers:
        """Return the names below the cgroup of all pods."""
        return cls(root, new_cgroup_name(root, "burstable"), new_cgroup_name(root, "besteffort"))

    def of(self, quality: str) -> CgroupName:
        """Return the cgroup of a QoS class."""
        return {GUARANTEED: self.guaranteed, BURSTABLE: self.burstable, BEST_EFFORT: self.best_effort}[quality]


class PodCgroupSettings(Record):
    """What holds for the cgroups of all pods.

    Attributes:
        pids_limit: processes that a pod may have; 0 or less for no limit.
        enforce_cpu_limits: whether CPU limits become quotas.
        cpu_period: microseconds.
        memory_qos: whether what is asked for is protected (cgroup v2).
    """

    pids_limit: int = -1
    enforce_cpu_limits: bool = True
    cpu_period: int = QUOTA_PERIOD
    memory_qos: bool = False


class PodCgroups:
    """See `PodContainerManager`."""

    def __init__(
        self,
        manager: CgroupManager,
        root: CgroupName,
        driver: str,
        settings: PodCgroupSettings,
        has_exclusive_cpus: Callable[[Object], bool] = lambda _pod: False,
    ) -> None:
        """Take the machine's cgroups, the cgroup of all pods, and which pods have CPUs alone: they have no quota."""
        self._has_exclusive_cpus = has_exclusive_cpus
        self._manager = manager
        self._classes = QosContainers.below(root)
        self._driver = driver
        self._settings = settings

    def name_of(self, pod: Object) -> CgroupName:
        """Return the name of the pod's cgroup."""
        return (*self._classes.of(qos_class(pod)), pod_cgroup_part(uid_of(pod)))

    def exists(self, pod: Object) -> bool:
        """See `PodContainerManager`."""
        return self._manager.exists(self.name_of(pod))

    def ensure_exists(self, pod: Object) -> None:
        """See `PodContainerManager`."""
        name = self.name_of(pod)
        if self._manager.exists(name):
            return
        try:
            self._manager.create(name, self._config(pod))
        except ContainerManagerFailed as error:
            raise ContainerManagerFailed(f"failed to create container for {show_cgroup_name(name)}: {error}") from error

    def cgroup_parent(self, pod: Object) -> str:
        """See `PodContainerManager`: for systemd the slice alone, whose folders it knows."""
        path = self._manager.path(self.name_of(pod))
        return path.rpartition("/")[2] if self._driver == SYSTEMD else path

    def update(self, pod: Object) -> None:
        """See `PodContainerManager`."""
        self._manager.update(self.name_of(pod), self._config(pod))

    def memory_usage(self, pod: Object) -> int:
        """See `PodContainerManager`."""
        return self._manager.memory_usage(self.name_of(pod))

    def all_pods(self) -> Mapping[str, CgroupName]:
        """See `PodContainerManager`."""
        return {
            name[-1].removeprefix(POD_PREFIX): name
            for above in self._classes
            for name in self._manager.children(above)
            if name[-1].startswith(POD_PREFIX) and len(name[-1]) > len(POD_PREFIX)
        }

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """See `PodContainerManager`."""
        self._manager.reduce_cpu_limits(name)

    def destroy(self, name: CgroupName) -> None:
        """See `PodContainerManager`."""
        kill_processes(self._manager, name)
        try:
            self._manager.destroy(name)
        except ContainerManagerFailed as error:
            raise ContainerManagerFailed(
                f"failed to delete cgroup paths for {show_cgroup_name(name)} : {error}"
            ) from error

    def _config(self, pod: Object) -> ResourceConfig:
        settings = self._settings
        return resource_config_for_pod(
            pod,
            enforce_cpu_limits=settings.enforce_cpu_limits and not self._has_exclusive_cpus(pod),
            cpu_period=settings.cpu_period,
            enforce_memory_qos=settings.memory_qos,
            pids_limit=settings.pids_limit if settings.pids_limit > 0 else None,
        )
