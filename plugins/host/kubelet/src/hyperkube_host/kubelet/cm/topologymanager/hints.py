"""Hints: the NUMA nodes that a resource of a container may come from, and how those of all resources are merged.

Sources: kubernetes ``pkg/kubelet/cm/topologymanager/policy.go``, ``numa_info.go``, ``bitmask/bitmask.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

from hyperkube.machinery.dataclass import dataclass

NumaNodes = frozenset[int]
SYSTEM_NODES = Path("/sys/devices/system/node")


@dataclass(frozen=True, slots=True)
class TopologyHint:
    """NUMA nodes that could give a resource; `nodes` None means that any could."""

    nodes: NumaNodes | None
    preferred: bool


ResourceHints = Mapping[str, Sequence[TopologyHint] | None]
"""Resource → its hints: None where it does not care, empty where nothing fits."""


@dataclass(frozen=True, slots=True)
class NumaInfo:
    """The NUMA nodes of a machine, and how far each is from each."""

    nodes: tuple[int, ...]
    distances: Mapping[int, Sequence[int]]

    @property
    def all_nodes(self) -> NumaNodes:
        """All of them: the hint of what does not care."""
        return frozenset(self.nodes)

    def average_distance(self, nodes: NumaNodes) -> float:
        """Return the mean distance between nodes of a set, each to itself included."""
        pairs = [self.distances[one][other] for one in nodes for other in nodes if other < len(self.distances[one])]
        return sum(pairs) / len(pairs) if pairs else 0.0


def discover_numa(folder: Path = SYSTEM_NODES) -> NumaInfo:
    """Return the NUMA nodes that the kernel shows; one, where it shows none."""
    found = sorted(int(entry.name.removeprefix("node")) for entry in folder.glob("node[0-9]*"))
    nodes = tuple(found) or (0,)
    return NumaInfo(nodes, {node: _distances(folder / f"node{node}/distance") for node in nodes})


def node_sets(nodes: Sequence[int]) -> Iterator[NumaNodes]:
    """Yield all sets of nodes that are not empty, small ones first."""
    for count in range(1, len(nodes) + 1):
        yield from map(frozenset, combinations(nodes, count))


def mask_value(nodes: NumaNodes) -> int:
    """Return a set as a number with a bit for each node: equal sizes are ordered by it."""
    return sum(1 << node for node in nodes)


def narrower(one: NumaNodes, other: NumaNodes) -> bool:
    """Tell whether `one` has fewer nodes than `other`, or as many with lower numbers."""
    return (len(one), mask_value(one)) < (len(other), mask_value(other))


def preferring_narrowest(sets: Iterable[NumaNodes], smallest: int) -> list[TopologyHint]:
    """Return hints of which those with `smallest` nodes are preferred."""
    return [TopologyHint(nodes, len(nodes) == smallest) for nodes in sets]


def filter_hints(providers: Iterable[ResourceHints]) -> list[list[TopologyHint]]:
    """Return the hints of all resources, with one for those that do not care and for those that cannot fit."""
    found: list[list[TopologyHint]] = []
    for hints in providers:
        if not hints:
            found.append([TopologyHint(None, preferred=True)])
        for of_resource in hints.values():
            if of_resource is None:
                found.append([TopologyHint(None, preferred=True)])
            else:
                found.append(list(of_resource) or [TopologyHint(None, preferred=False)])
    return found


def merge_hints(
    numa: NumaInfo, hints: Sequence[Sequence[TopologyHint]], *, prefer_closest: bool = False
) -> TopologyHint:
    """Return the best hint that one hint of each resource makes together."""
    limit = max((_fewest_nodes(of_resource) for of_resource in hints), default=0)
    best: TopologyHint | None = None
    for permutation in product(*hints):
        candidate = _merged(numa.all_nodes, permutation)
        if candidate.nodes and (best is None or _is_better(numa, best, candidate, limit, closest=prefer_closest)):
            best = candidate
    return best or TopologyHint(numa.all_nodes, preferred=False)


def _merged(all_nodes: NumaNodes, permutation: Sequence[TopologyHint]) -> TopologyHint:
    sets = [hint.nodes for hint in permutation if hint.nodes is not None]
    preferred = all(hint.preferred for hint in permutation) and all(nodes == sets[0] for nodes in sets)
    return TopologyHint(all_nodes.intersection(*sets), preferred)


def _fewest_nodes(hints: Iterable[TopologyHint]) -> int:
    return min((len(hint.nodes) for hint in hints if hint.nodes is not None), default=0)


def _is_better(numa: NumaInfo, best: TopologyHint, candidate: TopologyHint, limit: int, *, closest: bool) -> bool:
    """Tell whether a candidate is better than the best hint so far.

    Args:
        numa: the machine's.
        best: the best hint so far.
        candidate: another one.
        limit: the nodes that the most demanding resource needs. Of hints that are not preferred the one that comes
            nearest to it from below is best: fewer nodes would leave that resource without.
        closest: whether of equally many nodes the nearest to one another win.
    """
    if best.preferred != candidate.preferred:
        return candidate.preferred
    now, then = best.nodes or frozenset(), candidate.nodes or frozenset()
    if best.preferred or len(now) > limit:
        return _is_tighter(numa, now, then, closest=closest)
    if len(now) == len(then):
        return _is_tighter(numa, now, then, closest=closest)
    return len(now) < len(then) <= limit


def _is_tighter(numa: NumaInfo, now: NumaNodes, then: NumaNodes, *, closest: bool) -> bool:
    if now == then:
        return False
    if closest and len(now) == len(then):
        distances = numa.average_distance(now), numa.average_distance(then)
        if distances[0] != distances[1]:
            return distances[1] < distances[0]
    return narrower(then, now)


def _distances(file: Path) -> tuple[int, ...]:
    return tuple(map(int, file.read_text().split())) if file.is_file() else ()
