"""What the rest of the kubelet asks of the container manager.

Sources: kubernetes ``pkg/kubelet/cm/container_manager.go``, ``types.go`` (PodContainerManager).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from hyperkube_host.kubelet.cm.cgroup_name import CgroupName
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.kinds.resource_lists import ResourceList
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.record import Record

CriMessage = Mapping[str, Any]
"""A message of CRI v1 as a mapping with the names of its fields."""


class ContainerManagerFailed(HyperkubeError):
    """A cgroup could not be made or changed, or a device or claim could not be prepared: the pod is synced again."""


class RunContainerOptions(Record):
    """What devices and claims add to a container.

    Attributes:
        devices: CRI ``Device`` messages.
        mounts: CRI ``Mount`` messages.
        envs: CRI ``KeyValue`` messages.
        annotations: annotations of the container, for the runtime alone.
        cdi_devices: fully qualified CDI device names, each once.
    """

    devices: tuple[CriMessage, ...] = ()
    mounts: tuple[CriMessage, ...] = ()
    envs: tuple[CriMessage, ...] = ()
    annotations: Mapping[str, str] = {}
    cdi_devices: tuple[str, ...] = ()


NO_OPTIONS = RunContainerOptions()
ActivePods = Callable[[], Iterable[Object]]
UpdateContainer = Callable[[str, CriMessage], None]
"""Called with a container's id and a CRI ``LinuxContainerResources``: UpdateContainerResources of the runtime."""
RunningContainers = Callable[[], Mapping[tuple[str, str], str]]
"""Returns (pod uid, container name) → the id of the container that runs."""


class PodContainerManager(Protocol):
    """The cgroups of pods."""

    def exists(self, pod: Object) -> bool:
        """Tell whether the pod's cgroup is there."""

    def ensure_exists(self, pod: Object) -> None:
        """Make the pod's cgroup with its limits, unless it is there.

        Raises:
            ContainerManagerFailed: it cannot be made.
        """

    def cgroup_parent(self, pod: Object) -> str:
        """Return the cgroup for the pod's sandbox, as the runtime's driver spells it; empty for the runtime's own."""

    def update(self, pod: Object) -> None:
        """Set the limits of the pod's cgroup to what its spec says now: its containers were resized.

        Raises:
            ContainerManagerFailed: the kernel refused one.
        """

    def memory_usage(self, pod: Object) -> int:
        """Return the bytes of memory that the pod uses; 0 when that is not known."""

    def all_pods(self) -> Mapping[str, CgroupName]:
        """Return uid → cgroup of all pods that have one, also of those that the kubelet does not know."""

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """Let a terminated pod's cgroup have the least of CPU: its volumes wait for others."""

    def destroy(self, name: CgroupName) -> None:
        """Kill what is left in a pod's cgroup, and remove it.

        Raises:
            ContainerManagerFailed: a process stays.
        """


class ContainerManager(Protocol):
    """Gives pods their place on the node: cgroups, CPUs, memory, devices, dynamic resources."""

    pods: PodContainerManager
    enforce_cpu_quota: bool
    """Whether limits of CPU are enforced."""
    cpu_period: int
    """Microseconds that quotas are measured by."""

    def start(self, active_pods: ActivePods, running: RunningContainers, update_container: UpdateContainer) -> None:
        """Make the node's cgroups and begin to keep them; the pod sources need not be ready.

        Raises:
            UsageError: the node's cgroups cannot be made.
        """

    def close(self) -> None:
        """Stop what runs in the background; nothing of pods changes."""

    def admit(self, pod: Object) -> Failure | None:
        """Allocate what the pod's containers need for themselves alone; return why that is impossible, or None.

        Called: when the node admits a pod, and again after a restart of the kubelet. Must: be idempotent.
        """

    def prepare_pod(self, pod: Object) -> None:
        """Make the pod's cgroup, if it is not there; called before its sandbox is created.

        Raises:
            ContainerManagerFailed: it cannot be made.
        """

    def pod_ended(self, uid: str) -> None:
        """Remove the cgroup of a pod whose containers have all ended; one that cannot be removed yet is later."""

    def resize_problem(self, before: Object, pod: Object) -> str:
        """Return why a running pod cannot have other resources than before, or the empty string."""

    def update_qos_cgroups(self) -> None:
        """Set the cgroups of QoS classes by the active pods: one was admitted, or has ended.

        Raises:
            ContainerManagerFailed: the kernel refused a value.
        """

    def prepare_dynamic_resources(self, pod: Object) -> None:
        """Have the pod's resource claims prepared by their drivers.

        Raises:
            ContainerManagerFailed: one is not, with the driver's reason.
        """

    def unprepare_dynamic_resources(self, pod: Object) -> None:
        """Have claims unprepared that no other pod of the node uses; what a driver refuses is retried later."""

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """Return what devices and claims add to a container that is about to be created.

        Raises:
            ContainerManagerFailed: a device is not ready for it.
        """

    def pre_create_container(self, pod: Object, container: Object) -> CriMessage:
        """Return ``cpuset_cpus`` and ``cpuset_mems`` of ``LinuxContainerResources``, where a manager decides them."""

    def has_exclusive_cpus(self, pod: Object, container: Object | None = None) -> bool:
        """Tell whether a container, or one of the pod's, has CPUs for itself alone: its quota is not enforced."""

    def swap_resources(self, pod: Object, container: Object, memory_limit: int) -> CriMessage:
        """Return the fields of ``LinuxContainerResources`` that say how much a container may swap.

        Args:
            pod: the pod.
            container: one of its containers.
            memory_limit: its limit of memory in bytes, 0 for none.
        """

    def node_resources(self, machine: Mapping[str, Quantity]) -> tuple[ResourceList, ResourceList]:
        """Return the node's capacity and what pods may use of it.

        Args:
            machine: what the machine has: ``cpu``, ``memory``, ``ephemeral-storage``, huge pages, ``pods``.

        Returns: both with the resources of device plugins too; those of plugins that are gone are zero.
        """

    def figures(self) -> Mapping[str, int]:
        """Return metric → value, of how resources were given to containers alone."""

    def pods_memory_limit(self) -> int:
        """Return the bytes of memory that all pods together are held to, 0 for no limit."""

    def system_use(self) -> Mapping[str, CgroupUse]:
        """Return what the kubelet, the runtime and the rest of the system use, as far as their cgroups are known."""

    def allocated_resources_status(self, pod: Object, container_statuses: Iterable[Object]) -> None:
        """Write the health of devices into the ``allocatedResourcesStatus`` of container statuses."""

    def remove_orphans(self, known: Iterable[str]) -> None:
        """Remove the cgroups of pods with other uids than those; all pod sources must be ready."""

    def status(self) -> str:
        """Return why the node's cgroups cannot be trusted, or the empty string."""
