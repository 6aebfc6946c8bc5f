"""The memory manager: from which NUMA nodes the memory of a container comes.

Source: kubernetes ``pkg/kubelet/cm/memorymanager/memory_manager.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.cm.interface import ActivePods
from hyperkube_host.kubelet.cm.memorymanager.memory_state import MemoryState
from hyperkube_host.kubelet.cm.memorymanager.static_policy import StaticMemoryPolicy, requested_memory
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import PolicyProvider, all_containers

from hyperkube.kinds.qos import GUARANTEED, qos_class
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, uid_of

NONE, STATIC, BEST_EFFORT = "None", "Static", "BestEffort"


def check_policy(policy: str) -> None:
    """Refuse policies that there are none of here.

    Raises:
        UsageError: an unknown policy, or one for Windows.
    """
    if policy == BEST_EFFORT:
        raise UsageError("policy BestEffort is not available for platform linux: it is one of Windows")
    if policy not in {NONE, STATIC}:
        raise UsageError(f'unknown memory manager policy: "{policy}"')


class MemoryManager(PolicyProvider):
    """Memory of containers; `policy` None is the policy ``None``: it comes from anywhere."""

    def __init__(self, state: MemoryState, policy: StaticMemoryPolicy | None) -> None:
        """Take the assignments, and what decides about them."""
        super().__init__(policy)
        self.policy = NONE if policy is None else STATIC
        self._state = state
        self._policy = policy

    def pins(self, pod: Object, container: Object) -> bool:
        """Tell whether a container's memory is to come from few nodes."""
        return qos_class(pod) == GUARANTEED and bool(requested_memory(container))

    def figures(self) -> dict[str, int]:
        """Return metric → value."""
        return {
            "kubelet_memory_manager_pinning_requests_total": self.pinning_requests,
            "kubelet_memory_manager_pinning_errors_total": self.pinning_errors,
        }

    def numa_nodes(self, uid: str, container: str) -> list[int]:
        """Return the nodes that a container's memory comes from; empty when it comes from anywhere."""
        with self._lock:
            return sorted({node for block in self._state.blocks(uid, container) for node in block.numaAffinity})

    def memory_of(self, uid: str, container: str) -> list[tuple[str, int, list[int]]]:
        """Return kind, bytes and nodes of what a container has."""
        with self._lock:
            return [(block.type, block.size, list(block.numaAffinity)) for block in self._state.blocks(uid, container)]

    def allocatable(self) -> list[tuple[str, int, list[int]]]:
        """Return kind, bytes and node of what containers could have, were it all free."""
        if self._policy is None:
            return []
        with self._lock:
            return [
                (kind, table.allocatable, [node])
                for node, state in self._state.machine.items()
                for kind, table in state.memoryMap.items()
                if table.allocatable
            ]

    def remove_stale(self, active_pods: ActivePods) -> None:
        """Take back the memory of containers that no active pod has."""
        if self._policy is None:
            return
        with self._lock:
            held = [(uid, name) for uid, containers in self._state.assignments.items() for name in containers]
            if not held:
                return
            alive = {(uid_of(pod), container["name"]) for pod in active_pods() for container in all_containers(pod)}
            for uid, name in held:
                if (uid, name) not in alive:
                    self._policy.release(uid, name)
