"""The CPU manager: tells which CPUs a container may run on, and keeps running containers to what is shared now.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/cpu_manager.go``.
"""

from __future__ import annotations

import logging

from hyperkube_host.kubelet.cm.cpumanager.cpu_set import CpuSet, format_cpu_set
from hyperkube_host.kubelet.cm.cpumanager.cpu_state import CpuState
from hyperkube_host.kubelet.cm.cpumanager.static_policy import StaticPolicy, guaranteed_cpus
from hyperkube_host.kubelet.cm.interface import ActivePods, RunningContainers, UpdateContainer
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import PolicyProvider, all_containers

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.objects import Object, uid_of

NONE, STATIC = "none", "static"
POLICIES = (NONE, STATIC)
_log = logging.getLogger("hyperkube.kubelet.cpumanager")


class CpuManager(PolicyProvider):
    """CPUs of containers; `policy` None is the policy ``none``: every container runs everywhere."""

    def __init__(self, state: CpuState, policy: StaticPolicy | None) -> None:
        """Take the assignments, and what decides about them."""
        super().__init__(policy)
        self.policy = NONE if policy is None else STATIC
        self._state = state
        self._policy = policy
        self._last: dict[str, CpuSet] = {}

    def pins(self, pod: Object, container: Object) -> bool:
        """Tell whether a container is to have CPUs for itself alone."""
        return guaranteed_cpus(pod, container) > 0

    def figures(self) -> dict[str, int]:
        """Return metric → value; of a policy without CPUs for anyone alone only the counts."""
        with self._lock:
            alone = sum(len(cpus) for containers in self._state.assignments.values() for cpus in containers.values())
            shared = len(self._state.default)
        counts = {
            "kubelet_cpu_manager_pinning_requests_total": self.pinning_requests,
            "kubelet_cpu_manager_pinning_errors_total": self.pinning_errors,
        }
        if self._policy is None:
            return counts
        return counts | {
            "kubelet_cpu_manager_shared_pool_size_millicores": shared * 1000,
            "kubelet_cpu_manager_exclusive_cpu_allocation_count": alone,
        }

    def affinity(self, uid: str, container: str) -> CpuSet:
        """Return the CPUs that a container may run on; empty when nothing restricts it."""
        with self._lock:
            return self._state.cpus_or_default(uid, container)

    def exclusive_cpus(self, uid: str, container: str) -> CpuSet:
        """Return the CPUs that a container has for itself alone."""
        with self._lock:
            return self._state.own_cpus(uid, container) or frozenset()

    def pod_has_exclusive(self, pod: Object) -> bool:
        """Tell whether one of the pod's containers has CPUs for itself alone."""
        return any(self.exclusive_cpus(uid_of(pod), container["name"]) for container in all_containers(pod))

    def allocatable_cpus(self) -> CpuSet:
        """Return the CPUs that containers could have alone, were they all free."""
        return frozenset() if self._policy is None else self._policy.allocatable()

    def remove_stale(self, active_pods: ActivePods) -> None:
        """Take back the CPUs of containers that no active pod has."""
        with self._lock:
            if not self._state.assignments:
                return
            alive = {(uid_of(pod), container["name"]) for pod in active_pods() for container in all_containers(pod)}
            held = [(uid, name) for uid, containers in self._state.assignments.items() for name in containers]
            for uid, name in held:
                if (uid, name) not in alive:
                    self._state.release(uid, name)

    def reconcile(self, active_pods: ActivePods, containers: RunningContainers, update: UpdateContainer) -> None:
        """Tell the runtime the shared CPUs of running containers where they are other than it was told last.

        Containers with CPUs of their own are left alone: those never change.
        """
        if self._policy is None:
            return
        self.remove_stale(active_pods)
        ids = containers()
        seen: dict[str, CpuSet] = {}
        for pod in active_pods():
            for container in all_containers(pod):
                uid, name = uid_of(pod), container["name"]
                running = ids.get((uid, name))
                cpus = self.affinity(uid, name)
                if not running or not cpus or self.exclusive_cpus(uid, name):
                    continue
                if self._last.get(running) != cpus and not _updated(update, running, cpus):
                    continue
                seen[running] = cpus
        self._last = seen


def _updated(update: UpdateContainer, container_id: str, cpus: CpuSet) -> bool:
    """Update a container; tell whether that succeeded: else the next round does it again."""
    try:
        update(container_id, {"cpuset_cpus": format_cpu_set(cpus)})
    except RuntimeFailed as error:
        _log.warning("container %s: cannot set its CPUs: %s", container_id, error)
        return False
    return True
