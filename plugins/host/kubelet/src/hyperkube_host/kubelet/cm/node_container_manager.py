"""What pods may use of the node: capacity less what is reserved, and the cgroups that enforce it.

Sources: kubernetes ``pkg/kubelet/cm/node_container_manager_linux.go``, ``nodestatus/setters.go`` (MachineInfo).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hyperkube_host.kubelet.cm.cgroup_manager import CgroupManager
from hyperkube_host.kubelet.cm.cgroup_name import CgroupName, parse_driver_path, show_cgroup_name
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.qos.resource_config import ResourceConfig, resource_config_of
from hyperkube_host.kubelet.thresholds import Threshold

from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX, ResourceList, add
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.record import Record

PODS_KEY, SYSTEM_RESERVED_KEY, KUBE_RESERVED_KEY = "pods", "system-reserved", "kube-reserved"
SYSTEM_RESERVED_COMPRESSIBLE_KEY = "system-reserved-compressible"
KUBE_RESERVED_COMPRESSIBLE_KEY = "kube-reserved-compressible"
NONE_KEY = "none"
ENFORCEMENT_KEYS = (
    PODS_KEY,
    SYSTEM_RESERVED_KEY,
    KUBE_RESERVED_KEY,
    SYSTEM_RESERVED_COMPRESSIBLE_KEY,
    KUBE_RESERVED_COMPRESSIBLE_KEY,
    NONE_KEY,
)
ENFORCED, NOT_ENFORCED = "NodeAllocatableEnforced", "FailedNodeAllocatableEnforcement"
_ZERO = Quantity(0)
_RESOURCE_OF = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}

NodeEvent = Callable[[str, str, str], None]
"""Called with the type, reason and message of an event about the node."""


class NodeAllocatableConfig(Record):
    """What is kept back, and who is held to it.

    Attributes:
        system_reserved: for processes outside of Kubernetes.
        kube_reserved: for the kubelet and the runtime.
        hard_eviction: thresholds below which pods are evicted.
        enforce: keys of ``--enforce-node-allocatable``.
        system_reserved_cgroup: the cgroup of processes outside of Kubernetes.
        kube_reserved_cgroup: the cgroup of the kubelet and the runtime.
    """

    system_reserved: ResourceList
    kube_reserved: ResourceList
    hard_eviction: tuple[Threshold, ...]
    enforce: tuple[str, ...]
    system_reserved_cgroup: str = ""
    kube_reserved_cgroup: str = ""


def hard_eviction_reservation(thresholds: Iterable[Threshold], capacity: Mapping[str, Quantity]) -> ResourceList:
    """Return what hard eviction keeps free."""
    reserved: ResourceList = {}
    for threshold in thresholds:
        resource = _RESOURCE_OF.get(threshold.signal)
        if resource is not None and resource in capacity:
            amount = threshold.value.of(capacity[resource].value())
            reserved[resource] = Quantity(amount, form="BinarySI")
    return reserved


def reservation(config: NodeAllocatableConfig, capacity: Mapping[str, Quantity]) -> ResourceList:
    """Return what pods may not use of the node's capacity."""
    total: ResourceList = {}
    eviction = hard_eviction_reservation(config.hard_eviction, capacity)
    for part in (config.system_reserved, config.kube_reserved, eviction):
        add(total, {name: amount for name, amount in part.items() if name in capacity and amount})
    return total


def allocatable(capacity: Mapping[str, Quantity], reserved: Mapping[str, Quantity]) -> ResourceList:
    """Return capacity less what is reserved, never below zero; huge pages are not memory for others."""
    result = {name: max(amount - reserved.get(name, _ZERO), _ZERO) for name, amount in capacity.items()}
    for name, amount in capacity.items():
        if name.startswith(HUGE_PAGES_PREFIX) and amount and "memory" in result:
            result["memory"] = max(result["memory"] - amount, _ZERO)
    return result


def validate_node_allocatable(config: NodeAllocatableConfig, capacity: Mapping[str, Quantity]) -> None:
    """Refuse to reserve more than there is.

    Raises:
        UsageError: more is reserved of a resource than the node has.
    """
    reserved = reservation(config, capacity)
    wrong = [
        f'Resource "{name}" has a reservation of {amount} but capacity of {capacity[name]}.'
        " Expected capacity >= reservation."
        for name, amount in sorted(reserved.items())
        if amount > capacity[name]
    ]
    if wrong:
        raise UsageError(f"invalid Node Allocatable configuration. {' '.join(wrong)}")


class NodeCgroups:
    """The cgroup of all pods, and those of the system where their limits are enforced."""

    def __init__(
        self,
        manager: CgroupManager,
        root: CgroupName,
        driver: str,
        config: NodeAllocatableConfig,
        internal_capacity: Mapping[str, Quantity],
    ) -> None:
        """Take the machine's cgroups, the cgroup of all pods, and what the machine has (with ``pid``)."""
        self._manager = manager
        self._root = root
        self._driver = driver
        self._config = config
        self._capacity = internal_capacity

    def create(self) -> None:
        """Make the cgroup of all pods unless it is there.

        Raises:
            ContainerManagerFailed: it cannot be made.
        """
        if not self._manager.exists(self._root):
            self._manager.create(self._root, self._pods_config())

    def enforce_pods(self, event: NodeEvent) -> bool:
        """Set the limits of all pods together; tell whether that was possible: pods may use more now than they may."""
        if not self._root:
            return True
        try:
            self._manager.update(self._root, self._pods_config())
        except ContainerManagerFailed as error:
            name = show_cgroup_name(self._root)
            event("Warning", NOT_ENFORCED, f"Failed to update Node Allocatable Limits {name}: {error}")
            return False
        event("Normal", ENFORCED, "Updated Node Allocatable limit across pods")
        return True

    def enforce_reserved(self, event: NodeEvent) -> None:
        """Set the limits of the cgroups that are reserved for.

        Raises:
            ContainerManagerFailed: a cgroup is missing, or the kernel refused.
        """
        config, keys = self._config, self._config.enforce
        for key, title, cgroup, resources in (
            (SYSTEM_RESERVED_KEY, "system", config.system_reserved_cgroup, config.system_reserved),
            (KUBE_RESERVED_KEY, "kube", config.kube_reserved_cgroup, config.kube_reserved),
        ):
            compressible = f"{key}-compressible"
            if key in keys:
                self._enforce(title, cgroup, resource_config_of(resources), event)
            elif compressible in keys:
                shares = resource_config_of({name: resources[name] for name in resources if name == "cpu"})
                self._enforce(title, cgroup, shares, event)

    def _enforce(self, title: str, cgroup: str, config: ResourceConfig, event: NodeEvent) -> None:
        problem = self._set(parse_driver_path(cgroup, self._driver), config)
        if problem:
            why = f'Failed to enforce {title.capitalize()} Reserved Cgroup Limits on "{cgroup}": {problem}'
            event("Warning", NOT_ENFORCED, why)
            raise ContainerManagerFailed(why)
        event("Normal", ENFORCED, f"Updated limits on {title} reserved cgroup {cgroup}")

    def _set(self, name: CgroupName, config: ResourceConfig) -> str:
        """Set a cgroup that others made; return what is wrong, or the empty string."""
        if not self._manager.exists(name):
            return f"{show_cgroup_name(name)} cgroup does not exist"
        try:
            self._manager.update(name, config)
        except ContainerManagerFailed as error:
            return str(error)
        return ""

    def pods_memory_limit(self) -> int:
        """Return the bytes that all pods together may use; 0 when nothing holds them to it."""
        if not self._root or PODS_KEY not in self._config.enforce:
            return 0
        return self._available().get("memory", _ZERO).value()

    def _pods_config(self) -> ResourceConfig:
        return resource_config_of(self._available())

    def _available(self) -> ResourceList:
        if PODS_KEY not in self._config.enforce:
            return dict(self._capacity)
        reserved: ResourceList = {}
        add(reserved, self._config.system_reserved)
        add(reserved, self._config.kube_reserved)
        return allocatable(self._capacity, reserved)
