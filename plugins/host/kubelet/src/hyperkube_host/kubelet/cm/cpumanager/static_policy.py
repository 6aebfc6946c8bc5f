"""The static policy: containers of guaranteed pods that ask for whole CPUs have them for themselves alone.

SHARED is the default set of the state: all others run there, and it shrinks and grows as CPUs are given and taken
back. RESERVED is the part of it that no container has alone; ASSIGNABLE is SHARED without RESERVED.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/policy_static.go``.
"""

from __future__ import annotations

import logging

from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.cpumanager.cpu_assignment import (
    CpusNotAvailable,
    SortingStrategy,
    take_by_topology_numa_packed,
)
from hyperkube_host.kubelet.cm.cpumanager.cpu_distribution import take_by_topology_numa_distributed
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import NO_CPUS, CpuSet, format_cpu_set
from hyperkube_host.kubelet.cm.cpumanager.cpu_state import CpuState
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import CpuTopology, core_of, numa_node_of, socket_of
from hyperkube_host.kubelet.cm.cpumanager.policy_options import StaticPolicyOptions
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaNodes, ResourceHints, TopologyHint, node_sets
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, all_containers

from hyperkube.kinds.pods import container_resources, is_sidecar, spec_of
from hyperkube.kinds.qos import GUARANTEED, qos_class
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, uid_of

SMT_ALIGNMENT_ERROR = "SMTAlignmentError"
_log = logging.getLogger("hyperkube.kubelet.cpumanager")


def guaranteed_cpus(pod: Object, container: Object) -> int:
    """Return how many CPUs a container is to have alone; 0 for a container that shares."""
    if qos_class(pod) != GUARANTEED:
        return 0
    cpu = container_resources(container, "requests").get("cpu")
    return 0 if cpu is None or cpu.milli_value() % 1000 else cpu.value()


def pod_guaranteed_cpus(pod: Object) -> int:
    """Return how many CPUs the containers of a pod have alone at one time at the most."""
    start = sidecars = 0
    for init in spec_of(pod).get("initContainers") or ():
        own = guaranteed_cpus(pod, init)
        if is_sidecar(init):
            sidecars += own
        else:
            start = max(start, sidecars + own)
    regular = sum(guaranteed_cpus(pod, container) for container in spec_of(pod).get("containers") or ())
    return max(start, regular + sidecars)


class StaticPolicy:
    """Gives CPUs to containers; see the module."""

    def __init__(
        self,
        topology: CpuTopology,
        state: CpuState,
        affinity: TopologyManager,
        options: StaticPolicyOptions,
        reserved: CpuSet | int,
    ) -> None:
        """Take the machine, the state, and the reserved CPUs or how many they are.

        Raises:
            UsageError: too few CPUs, or a state that does not fit them.
        """
        self._topology = topology
        self._state = state
        self._affinity = affinity
        self._options = options
        self._reusable: tuple[str, CpuSet] = ("", NO_CPUS)
        self.reserved = self._take(topology.all_cpus, reserved) if isinstance(reserved, int) else reserved
        if not self.reserved <= topology.all_cpus or (isinstance(reserved, int) and len(self.reserved) != reserved):
            raise UsageError(
                "[cpumanager] unable to reserve the required amount of CPUs"
                f" (size of {format_cpu_set(self.reserved)} did not equal {reserved})"
            )
        cores = topology.parts_of(core_of, self.reserved)
        self._reserved_physical = topology.cpus_in(core_of, cores)
        self._start()

    def _start(self) -> None:
        """Begin with all CPUs shared, or go on with what the state says if that fits the machine."""
        state, shown = self._state, format_cpu_set
        all_cpus = self._topology.all_cpus - (self.reserved if self._options.strict_reservation else NO_CPUS)
        if not state.default and not state.assignments:
            state.set_default(all_cpus)
            return
        problem = ""
        known = state.default
        if not state.default:
            problem = "default cpuset cannot be empty"
        elif self._options.strict_reservation and self.reserved & state.default:
            both = shown(self.reserved & state.default)
            problem = f'some of strictly reserved cpus: "{both}" are present in defaultCpuSet: "{shown(state.default)}"'
        elif not self._options.strict_reservation and not self.reserved <= state.default:
            wanted, default = shown(self.reserved), shown(state.default)
            problem = f'not all reserved cpus: "{wanted}" are present in defaultCpuSet: "{default}"'
        for uid, containers in state.assignments.items():
            for name, cpus in containers.items():
                known |= cpus
                if cpus & state.default and not problem:
                    overlap = f'cpuset: "{shown(cpus)}" overlaps with default cpuset "{shown(state.default)}"'
                    problem = f"pod: {uid}, container: {name} {overlap}"
        if not problem and known != all_cpus:
            problem = (
                f'current set of available CPUs "{shown(all_cpus)}" doesn\'t match with CPUs in state "{shown(known)}"'
            )
        if problem:
            raise UsageError(f"Static policy invalid state, please drain node and remove policy state file: {problem}")

    def allocatable(self) -> CpuSet:
        """Return the CPUs that containers could have alone, were they all free."""
        return self._topology.all_cpus - self.reserved

    def allocate(self, pod: Object, container: Object) -> None:
        """Give a container its CPUs, if it is to have some; see `HintProvider`."""
        count = guaranteed_cpus(pod, container)
        if count == 0:
            return
        uid, name = uid_of(pod), container["name"]
        own = self._state.own_cpus(uid, name)
        if own is None:
            self._check_alignment(count)
            own = self._choose(count, self._affinity.affinity(uid, name).nodes, self._reusable_by(pod))
            self._state.assign(uid, name, own, self._state.default - own)
            _log.debug("pod %s, container %s: exclusive CPUs %s", uid, name, format_cpu_set(own))
        self._note_reusable(pod, container, own)

    def _check_alignment(self, count: int) -> None:
        """Refuse what would share a physical core, if none may."""
        if not self._options.full_pcpus_only:
            return
        group = self._topology.cpus_per_core
        if count % group:
            why = f"SMT Alignment Error: requested {count} cpus not multiple cpus per core = {group}"
            raise AllocationFailed(why, SMT_ALIGNMENT_ERROR)
        # Cores that share threads with reserved CPUs would have to be split.
        free = len(self._state.default - self._reserved_physical)
        if count > free:
            why = (
                "SMT Alignment Error: not enough free physical CPUs:"
                f" available physical CPUs = {free}, requested CPUs = {count}, CPUs per core = {group}"
            )
            raise AllocationFailed(why, SMT_ALIGNMENT_ERROR)

    def _choose(self, count: int, nodes: NumaNodes | None, reusable: CpuSet) -> CpuSet:
        """Choose CPUs, from the nodes of the affinity as far as they have some."""
        allocatable = (self._state.default - self.reserved) | reusable
        try:
            aligned = NO_CPUS
            if nodes is not None:
                near = self._aligned_with(nodes, allocatable)
                aligned = self._take(near, min(count, len(near)))
            return aligned | self._take(allocatable - aligned, count - len(aligned))
        except CpusNotAvailable as error:
            raise AllocationFailed(str(error)) from error

    def _aligned_with(self, nodes: NumaNodes, cpus: CpuSet) -> CpuSet:
        topology = self._topology
        if self._options.align_by_socket:
            sockets = topology.parts_of(socket_of, topology.cpus_in(numa_node_of, nodes))
            return topology.cpus_in(socket_of, sockets, cpus)
        return topology.cpus_in(numa_node_of, nodes, cpus)

    def _take(self, available: CpuSet, count: int) -> CpuSet:
        options = self._options
        strategy = SortingStrategy.SPREAD if options.distribute_across_cores else SortingStrategy.PACKED
        if options.distribute_across_numa:
            group = self._topology.cpus_per_core if options.full_pcpus_only else 1
            return take_by_topology_numa_distributed(self._topology, available, count, group, strategy)
        return take_by_topology_numa_packed(
            self._topology, available, count, strategy, prefer_uncore_cache=options.prefer_uncore_cache
        )

    def _reusable_by(self, pod: Object) -> CpuSet:
        """Return the CPUs of the pod's init containers that have ended when the next container runs."""
        uid, cpus = self._reusable
        return cpus if uid == uid_of(pod) else NO_CPUS

    def _note_reusable(self, pod: Object, container: Object, cpus: CpuSet) -> None:
        inits = {init["name"] for init in spec_of(pod).get("initContainers") or () if not is_sidecar(init)}
        before = self._reusable_by(pod)
        self._reusable = (uid_of(pod), before | cpus if container["name"] in inits else before - cpus)

    def topology_hints(self, pod: Object, container: Object) -> ResourceHints:
        """See `HintProvider`."""
        count = guaranteed_cpus(pod, container)
        if count == 0:
            return {}
        own = self._state.own_cpus(uid_of(pod), container["name"])
        if own is not None:
            return {"cpu": self._hints(own, NO_CPUS, count) if len(own) == count else []}
        return {"cpu": self._hints(self._state.default - self.reserved, self._reusable_by(pod), count)}

    def pod_topology_hints(self, pod: Object) -> ResourceHints:
        """See `HintProvider`."""
        count = pod_guaranteed_cpus(pod)
        if count == 0:
            return {}
        assigned = NO_CPUS
        for container in all_containers(pod):
            own = self._state.own_cpus(uid_of(pod), container["name"])
            if own is not None:
                if len(own) != guaranteed_cpus(pod, container):
                    return {"cpu": []}
                assigned |= own
        if len(assigned) == count:
            return {"cpu": self._hints(assigned, NO_CPUS, count)}
        reusable = self._reusable_by(pod) | assigned
        return {"cpu": self._hints(self._state.default - self.reserved, reusable, count)}

    def _hints(self, available: CpuSet, reusable: CpuSet, count: int) -> list[TopologyHint]:
        """Return the sets of NUMA nodes that have enough CPUs, those with the fewest nodes preferred."""
        topology = self._topology
        smallest = len(topology.numa_nodes)
        found = []
        for nodes in node_sets(topology.numa_nodes):
            if len(topology.cpus_in(numa_node_of, nodes)) >= count:
                smallest = min(smallest, len(nodes))
            near = topology.cpus_in(numa_node_of, nodes, available)
            if topology.parts_of(numa_node_of, reusable) <= nodes and len(near) + len(reusable) >= count:
                found.append(nodes)
        return [TopologyHint(nodes, self._is_preferred(nodes, smallest)) for nodes in found]

    def _is_preferred(self, nodes: NumaNodes, smallest: int) -> bool:
        topology = self._topology
        per_socket = len(topology.numa_nodes) // max(len(topology.sockets), 1)
        if self._options.align_by_socket and per_socket:
            sockets = topology.parts_of(socket_of, topology.cpus_in(numa_node_of, nodes))
            if len(sockets) == -(-smallest // per_socket):
                return True
        return len(nodes) == smallest
