"""Chooses CPUs evenly from several NUMA nodes, as the option ``distribute-cpus-across-numa`` wants.

Source: kubernetes ``pkg/kubelet/cm/cpumanager/cpu_assignment.go`` (takeByTopologyNUMADistributed).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from statistics import pstdev
from typing import NamedTuple

from hyperkube_host.kubelet.cm.cpumanager.cpu_assignment import (
    CpuAccumulator,
    SortingStrategy,
    accumulator,
    groups_fit,
    numa_nodes_needed,
    take_by_topology_numa_packed,
)
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import CpuSet
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import CpuTopology, numa_node_of

_DIGITS = 3


class _Spread(NamedTuple):
    """A way to spread a request: how uneven it leaves the machine, the nodes, and those that give the remainder."""

    unevenness: float
    nodes: tuple[int, ...]
    remainder_from: tuple[int, ...]


def take_by_topology_numa_distributed(
    topology: CpuTopology,
    available: CpuSet,
    needed: int,
    group: int = 1,
    strategy: SortingStrategy = SortingStrategy.PACKED,
) -> CpuSet:
    """Return `needed` CPUs spread evenly over the fewest NUMA nodes that can give equal shares, in groups.

    Raises:
        CpusNotAvailable: there are too few.
    """
    if needed % group:
        return take_by_topology_numa_packed(topology, available, needed, strategy)
    accumulated = accumulator(topology, available, needed, strategy)
    if accumulated.is_satisfied:
        return frozenset()
    nodes = accumulated.sorted_numa_nodes()
    free = {node: len(accumulated.cpus_in(numa_node_of, [node])) for node in nodes}
    for count in numa_nodes_needed(topology, available, needed, group):
        best = _best_spread(free, count, needed, group)
        if best is not None:
            _allocate(accumulated, best, group, strategy)
            return frozenset(accumulated.result)
    return take_by_topology_numa_packed(topology, available, needed, strategy)


def _best_spread(free: Mapping[int, int], count: int, needed: int, group: int) -> _Spread | None:
    """Return the spread over `count` nodes that leaves the machine the most even; the first of equal ones."""
    best: _Spread | None = None
    for nodes in combinations(free, count):
        if not groups_fit([free[node] for node in nodes], needed, group):
            continue
        share = needed // count // group * group
        left = {node: amount - (share if node in nodes else 0) for node, amount in free.items()}
        found = _with_remainder(left, nodes, needed - share * count, group)
        if found is not None and (best is None or found.unevenness < best.unevenness):
            best = found
        if best is not None and best.unevenness == 0:
            break
    return best


def _with_remainder(left: Mapping[int, int], nodes: tuple[int, ...], remainder: int, group: int) -> _Spread | None:
    """Return the best choice of nodes to take the remainder from, as many of them as possible first."""
    if remainder == 0:
        return _Spread(_unevenness(left), nodes, ())
    best: _Spread | None = None
    able = [node for node in nodes if left[node] >= group]
    for count in range(len(able), 0, -1):
        for subset in combinations(able, count):
            if sum(left[node] // group * group for node in subset) < remainder:
                continue
            unevenness = _unevenness(_after_rounds(left, subset, remainder, group))
            if best is None or unevenness < best.unevenness:
                best = _Spread(unevenness, nodes, subset)
    return best


def _after_rounds(left: Mapping[int, int], subset: tuple[int, ...], remainder: int, group: int) -> dict[int, int]:
    """Return what is left when the nodes of a subset give a group each in turn until the remainder is given."""
    after = dict(left)
    while remainder > 0:
        for node in subset:
            if remainder > 0 and after[node] >= group:
                after[node] -= group
                remainder -= group
    return after


def _unevenness(left: Mapping[int, int]) -> float:
    return round(pstdev(left.values()), _DIGITS)


def _allocate(accumulated: CpuAccumulator, spread: _Spread, group: int, strategy: SortingStrategy) -> None:
    share = accumulated.needed // len(spread.nodes) // group * group
    for node in spread.nodes:
        _take_from(accumulated, node, share, strategy)
    while not accumulated.is_satisfied:
        for node in spread.remainder_from:
            enough = len(accumulated.cpus_in(numa_node_of, [node])) >= group
            if enough and not accumulated.is_satisfied:
                _take_from(accumulated, node, group, strategy)


def _take_from(accumulated: CpuAccumulator, node: int, count: int, strategy: SortingStrategy) -> None:
    available = accumulated.cpus_in(numa_node_of, [node])
    accumulated.take(take_by_topology_numa_packed(accumulated.topology, available, count, strategy))
