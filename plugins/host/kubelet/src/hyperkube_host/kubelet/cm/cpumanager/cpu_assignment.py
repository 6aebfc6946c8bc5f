"""Chooses CPUs: whole NUMA nodes, sockets, caches and cores where a request fills them, then single threads.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/cpu_assignment.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum

from hyperkube_host.kubelet.cm.cpumanager.cpu_set import CpuSet
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import (
    CpuTopology,
    Part,
    core_of,
    numa_node_of,
    socket_of,
    uncore_cache_of,
)

from hyperkube.machinery.errors import HyperkubeError


class CpusNotAvailable(HyperkubeError):
    """There are too few CPUs that a container could have for itself."""


class SortingStrategy(Enum):
    """Whether the threads of a core go to one container, or to several."""

    PACKED = "packed"
    SPREAD = "spread"


class CpuAccumulator:
    """Takes CPUs from those that are available until there are enough."""

    def __init__(self, topology: CpuTopology, available: CpuSet, needed: int, strategy: SortingStrategy) -> None:
        self.topology = topology
        self.available = set(available)
        self.needed = needed
        self.result: set[int] = set()
        self._strategy = strategy
        # The larger unit goes first: with several NUMA nodes in a socket that is the socket.
        self._numa_first = len(topology.sockets) >= len(topology.numa_nodes)

    @property
    def is_satisfied(self) -> bool:
        """Whether there are enough."""
        return self.needed < 1

    def take(self, cpus: Iterable[int]) -> None:
        """Move CPUs from the available ones to the result."""
        chosen = set(cpus)
        self.result |= chosen
        self.available -= chosen
        self.needed -= len(chosen)

    def cpus_in(self, part: Part, ids: Iterable[int]) -> CpuSet:
        """Return the available CPUs of some parts."""
        return self.topology.cpus_in(part, ids, self.available)

    def take_full(self, part: Part) -> None:
        """Take whole parts as long as more CPUs are needed than they have."""
        for one in self._free(part):
            cpus = self.topology.cpus_in(part, [one])
            if self.needed >= len(cpus):
                self.take(cpus)
                if self.is_satisfied:
                    return

    def take_full_nodes_and_sockets(self) -> None:
        """Take whole NUMA nodes and sockets, the larger unit first."""
        for part in (numa_node_of, socket_of) if self._numa_first else (socket_of, numa_node_of):
            self.take_full(part)
            if self.is_satisfied:
                return

    def take_uncore_caches(self) -> None:
        """Take whole caches, then a part of one that has all the rest."""
        for cache in self._sorted_caches():
            if self.needed >= self.topology.cpus_per_uncore_cache:
                self.take_full(uncore_cache_of)
                if self.is_satisfied:
                    return
            self._take_partial_cache(cache)
            if self.is_satisfied:
                return

    def take_remaining(self) -> None:
        """Take single threads, those of cores that are in use already first."""
        for cpu in self._sorted_cpus():
            self.take([cpu])
            if self.is_satisfied:
                return

    def _take_partial_cache(self, cache: int) -> None:
        """Take what is needed from one cache, if its free cores have just that many CPUs."""
        cores_needed = -(-self.needed // self.topology.cpus_per_core)
        cores = sorted(self.topology.parts_of(core_of, self.cpus_in(uncore_cache_of, [cache])))
        free = self.cpus_in(core_of, cores[:cores_needed])
        if len(free) == self.needed:
            self.take(free)

    def _free(self, part: Part) -> list[int]:
        """Return the parts of which every CPU is available."""
        return [
            one
            for one in self._sorted(part)
            if len(self.cpus_in(part, [one])) == len(self.topology.cpus_in(part, [one]))
        ]

    def _sorted(self, part: Part) -> list[int]:
        if part is uncore_cache_of:
            return self._sorted_caches()
        if part is core_of:
            return self._within(core_of, socket_of if self._numa_first else numa_node_of)
        outer = numa_node_of if self._numa_first else socket_of
        if part is outer:
            return self._by_availability(part, self.available)
        return self._within(part, outer)

    def _sorted_caches(self) -> list[int]:
        return self._within(uncore_cache_of, numa_node_of)

    def _within(self, part: Part, outer: Part) -> list[int]:
        """Return parts in the order of the larger ones that they are in."""
        found: dict[int, None] = {}
        for one in self._sorted(outer):
            found.update(dict.fromkeys(self._by_availability(part, self.cpus_in(outer, [one]))))
        return list(found)

    def _by_availability(self, part: Part, cpus: Iterable[int]) -> list[int]:
        """Return the parts of some CPUs, those with the fewest available CPUs first: large ones stay whole."""
        return sorted(self.topology.parts_of(part, cpus), key=lambda one: (len(self.cpus_in(part, [one])), one))

    def _sorted_cpus(self) -> list[int]:
        by_core = [sorted(self.cpus_in(core_of, [core])) for core in self._sorted(core_of)]
        if self._strategy is SortingStrategy.PACKED:
            return [cpu for cpus in by_core for cpu in cpus]
        rounds = range(max(map(len, by_core), default=0))
        return [cpus[turn] for turn in rounds for cpus in by_core if turn < len(cpus)]

    def sorted_numa_nodes(self) -> list[int]:
        """Return the NUMA nodes that have available CPUs, the scarcest first."""
        return self._sorted(numa_node_of)


def accumulator(topology: CpuTopology, available: CpuSet, needed: int, strategy: SortingStrategy) -> CpuAccumulator:
    """Return an accumulator.

    Raises:
        CpusNotAvailable: more are needed than there are.
    """
    made = CpuAccumulator(topology, available, needed, strategy)
    if needed > len(available):
        counts = f"requested={needed}, available={len(available)}"
        raise CpusNotAvailable(f"not enough cpus available to satisfy request: {counts}")
    return made


def take_by_topology_numa_packed(
    topology: CpuTopology,
    available: CpuSet,
    needed: int,
    strategy: SortingStrategy = SortingStrategy.PACKED,
    *,
    prefer_uncore_cache: bool = False,
) -> CpuSet:
    """Return `needed` CPUs from as few parts of the machine as possible.

    Raises:
        CpusNotAvailable: there are too few.
    """
    accumulated = accumulator(topology, available, needed, strategy)
    steps: list[Callable[[], None]] = [accumulated.take_full_nodes_and_sockets]
    if prefer_uncore_cache:
        steps.append(accumulated.take_uncore_caches)
    if strategy is not SortingStrategy.SPREAD:
        steps.append(lambda: accumulated.take_full(core_of))
    steps.append(accumulated.take_remaining)
    for step in steps:
        if accumulated.is_satisfied:
            break
        step()
    return frozenset(accumulated.result)


def numa_nodes_needed(topology: CpuTopology, available: CpuSet, needed: int, group: int) -> range:
    """Return how many NUMA nodes a request may be spread over: no fewer than it fills, no more than it has groups."""
    nodes_available = len(topology.parts_of(numa_node_of, available))
    per_node = max(len(topology.all_cpus) // max(len(topology.numa_nodes), 1), 1)
    least = min(-(-needed // per_node), nodes_available)
    most = min(-(-needed // group), nodes_available)
    return range(max(least, 1), most + 1)


def groups_fit(free: Sequence[int], needed: int, group: int) -> bool:
    """Tell whether nodes with that many free CPUs can give `needed` in groups, and an even share each."""
    share = needed // len(free) // group * group
    return sum(count // group for count in free) * group >= needed and all(count >= share for count in free)
