"""The container manager of a node whose runtime has no cgroups to put pods into: all that is asked for is granted.

Source: kubernetes ``pkg/kubelet/cm/container_manager_stub.go``, ``pod_container_manager_stub.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperkube_host.kubelet.cm.cgroup_name import CgroupName
from hyperkube_host.kubelet.cm.interface import (
    NO_OPTIONS,
    ActivePods,
    CriMessage,
    PodContainerManager,
    RunContainerOptions,
    RunningContainers,
    UpdateContainer,
)
from hyperkube_host.kubelet.qos.resource_config import QUOTA_PERIOD
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse

from hyperkube.kinds.resource_lists import ResourceList
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity


class UnmanagedPods:
    """Pods have no cgroups of their own; used without ``--cgroups-per-qos``, too."""

    def __init__(self, cgroup_parent: str = "") -> None:
        """Take what the runtime is told to put every sandbox into."""
        self._cgroup_parent = cgroup_parent

    def exists(self, pod: Object) -> bool:
        """Every pod has what it needs."""
        del pod
        return True

    def ensure_exists(self, pod: Object) -> None:
        """Nothing is to be made."""

    def cgroup_parent(self, pod: Object) -> str:
        """Return the same for all pods."""
        del pod
        return self._cgroup_parent

    def update(self, pod: Object) -> None:
        """There is nothing to set."""

    def memory_usage(self, pod: Object) -> int:
        """Nothing measures it."""
        del pod
        return 0

    def all_pods(self) -> Mapping[str, CgroupName]:
        """No pod has a cgroup."""
        return {}

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """No pod has a cgroup."""

    def destroy(self, name: CgroupName) -> None:
        """No pod has a cgroup."""


class UnmanagedContainerManager:
    """Manages nothing: simulated nodes, and processes of a user without rights."""

    enforce_cpu_quota = True
    cpu_period = QUOTA_PERIOD

    def __init__(self) -> None:
        self.pods: PodContainerManager = UnmanagedPods()

    def start(self, active_pods: ActivePods, running: RunningContainers, update_container: UpdateContainer) -> None:
        """Nothing runs in the background."""

    def close(self) -> None:
        """Nothing runs in the background."""

    def admit(self, pod: Object) -> None:
        """Admit every pod."""
        del pod

    def prepare_pod(self, pod: Object) -> None:
        """No pod has a cgroup."""

    def pod_ended(self, uid: str) -> None:
        """No pod has a cgroup."""

    def resize_problem(self, before: Object, pod: Object) -> str:
        """Let every pod be resized."""
        del before, pod
        return ""

    def update_qos_cgroups(self) -> None:
        """There are none."""

    def prepare_dynamic_resources(self, pod: Object) -> None:
        """No driver is known."""

    def unprepare_dynamic_resources(self, pod: Object) -> None:
        """No driver is known."""

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """Add nothing."""
        del pod, container
        return NO_OPTIONS

    def pre_create_container(self, pod: Object, container: Object) -> CriMessage:
        """Decide nothing."""
        del pod, container
        return {}

    def has_exclusive_cpus(self, pod: Object, container: Object | None = None) -> bool:
        """Give CPUs to none alone."""
        del pod, container
        return False

    def swap_resources(self, pod: Object, container: Object, memory_limit: int) -> CriMessage:
        """Let no container swap beyond its memory."""
        del pod, container
        return {"memory_swap_limit_in_bytes": memory_limit} if memory_limit else {}

    def node_resources(self, machine: Mapping[str, Quantity]) -> tuple[ResourceList, ResourceList]:
        """Let pods use all that the machine has."""
        return dict(machine), dict(machine)

    def figures(self) -> Mapping[str, int]:
        """Give nothing to anyone alone."""
        return {}

    def pods_memory_limit(self) -> int:
        """Hold pods to nothing."""
        return 0

    def system_use(self) -> Mapping[str, CgroupUse]:
        """Measure no cgroup."""
        return {}

    def allocated_resources_status(self, pod: Object, container_statuses: Iterable[Object]) -> None:
        """Know of no device."""

    def remove_orphans(self, known: Iterable[str]) -> None:
        """There are none."""

    def status(self) -> str:
        """Nothing can be wrong."""
        return ""
