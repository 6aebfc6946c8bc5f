"""The policy ``Static``: memory of guaranteed pods comes from the fewest NUMA nodes that have enough.

A node gives memory alone, or always together with the same other nodes (its cells): else a container that may use
several nodes could take what one that is bound to a single node was promised.

Source: kubernetes ``pkg/kubelet/cm/memorymanager/policy_static.go``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.memorymanager.memory_state import MEMORY, Block, KindSizes, MemoryState
from hyperkube_host.kubelet.cm.topologymanager.hints import (
    NumaNodes,
    ResourceHints,
    TopologyHint,
    narrower,
    node_sets,
    preferring_narrowest,
)
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, all_containers

from hyperkube.kinds.pods import container_resources, is_sidecar, spec_of
from hyperkube.kinds.qos import GUARANTEED, qos_class
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX
from hyperkube.machinery.objects import Object, uid_of


def requested_memory(container: Object) -> KindSizes:
    """Return the kinds of memory that a container asks for, and how much."""
    return {
        name: amount.value()
        for name, amount in container_resources(container, "requests").items()
        if (name == MEMORY or name.startswith(HUGE_PAGES_PREFIX)) and amount
    }


def pod_requested_memory(pod: Object) -> KindSizes:
    """Return what all containers of a pod ask for at one time at the most."""
    start: KindSizes = {}
    lasting: KindSizes = {}
    for init in spec_of(pod).get("initContainers") or ():
        own = requested_memory(init)
        if is_sidecar(init):
            lasting = _sum(lasting, own)
        else:
            start = _most(start, _sum(lasting, own))
    for container in spec_of(pod).get("containers") or ():
        lasting = _sum(lasting, requested_memory(container))
    return _most(start, lasting)


class StaticMemoryPolicy:
    """Gives memory of NUMA nodes to containers; see the module."""

    def __init__(self, state: MemoryState, affinity: TopologyManager) -> None:
        self._state = state
        self._affinity = affinity

    def allocate(self, pod: Object, container: Object) -> None:
        """See `HintProvider`."""
        uid, name = uid_of(pod), container["name"]
        if qos_class(pod) != GUARANTEED or self._state.blocks(uid, name):
            return
        request = requested_memory(container)
        if not request:
            return
        nodes = self._nodes_for(pod, request, self._affinity.affinity(uid, name))
        for kind, size in request.items():
            self._take(nodes, kind, size - self._reuse(pod, container, nodes, kind, size))
        blocks = [Block(sorted(nodes), kind, size) for kind, size in request.items()]
        self._state.assignments.setdefault(uid, {})[name] = blocks
        self._state.store()

    def _nodes_for(self, pod: Object, request: KindSizes, hint: TopologyHint) -> NumaNodes:
        """Return the nodes of a hint, as many more as are needed, or the best ones for a hint that names none."""
        nodes = hint.nodes
        if nodes is None:
            best = self._best(pod, request, frozenset())
            if best is None or (hint.preferred and not best.preferred):
                raise AllocationFailed("[memorymanager] failed to find the default preferred hint")
            nodes = best.nodes or frozenset()
        elif not self._has_free(nodes, request):
            best = self._best(pod, request, nodes)
            if best is None or (hint.preferred and not best.preferred):
                raise AllocationFailed("[memorymanager] failed to find the extended preferred hint")
            nodes = best.nodes or frozenset()
        if self._violates_cells(nodes):
            raise AllocationFailed("[memorymanager] preferred hint violates NUMA node allocation")
        return nodes

    def _best(self, pod: Object, request: KindSizes, including: NumaNodes) -> TopologyHint | None:
        """Return the narrowest hint with the nodes of `including`, a preferred one if there is one."""
        best: TopologyHint | None = None
        for hint in self._hints(pod, request):
            nodes = hint.nodes or frozenset()
            if not including <= nodes:
                continue
            if best is None or (hint.preferred, narrower(nodes, best.nodes or frozenset())) > (best.preferred, False):
                best = hint
        return best

    def _has_free(self, nodes: Iterable[int], request: KindSizes) -> bool:
        return all(self._sum_of("free", nodes, kind) >= size for kind, size in request.items())

    def _violates_cells(self, nodes: NumaNodes) -> bool:
        """Tell whether a node gives memory already, alone or with other nodes than these."""
        states = [self._state.machine[node] for node in nodes]
        return any(state.numberOfAssignments and set(state.cells) != nodes for state in states)

    def _take(self, nodes: NumaNodes, kind: str, size: int) -> None:
        """Note that memory is given from nodes, the first as far as it has some."""
        for node in sorted(nodes):
            state = self._state.machine[node]
            state.numberOfAssignments += 1
            state.cells = sorted(nodes)
            table = state.memoryMap[kind]
            part = min(size, table.free)
            table.free -= part
            table.reserved += part
            size -= part

    def release(self, uid: str, container: str) -> None:
        """Take a container's memory back."""
        containers = self._state.assignments.get(uid, {})
        for block in containers.pop(container, ()):
            size = block.size
            for node in block.numaAffinity:
                state = self._state.machine[node]
                state.numberOfAssignments -= 1
                if state.numberOfAssignments == 0:
                    state.cells = [node]
                table = state.memoryMap[block.type]
                part = min(size, table.reserved)
                table.free += part
                table.reserved -= part
                size -= part
        if not containers:
            self._state.assignments.pop(uid, None)
        self._state.store()

    def _reuse(self, pod: Object, container: Object, nodes: NumaNodes, kind: str, size: int) -> int:
        """Take over memory of the pod's init containers, which have ended when this one runs; return how much."""
        reused = 0
        for block in self._reusable(pod, container["name"], nodes, kind):
            part = min(block.size, size - reused)
            block.size -= part
            reused += part
        return reused

    def _reusable(self, pod: Object, name: str, nodes: NumaNodes, kind: str) -> list[Block]:
        """Return what init containers before this one have from the same nodes."""
        found = []
        for init in spec_of(pod).get("initContainers") or ():
            if init["name"] == name:
                break
            if not is_sidecar(init):
                blocks = self._state.blocks(uid_of(pod), init["name"])
                found += [block for block in blocks if block.type == kind and set(block.numaAffinity) == nodes]
        return found

    def topology_hints(self, pod: Object, container: Object) -> ResourceHints:
        """See `HintProvider`."""
        if qos_class(pod) != GUARANTEED:
            return {}
        return self._hints_by_kind(pod, requested_memory(container), [container])

    def pod_topology_hints(self, pod: Object) -> ResourceHints:
        """See `HintProvider`."""
        if qos_class(pod) != GUARANTEED:
            return {}
        return self._hints_by_kind(pod, pod_requested_memory(pod), list(all_containers(pod)))

    def _hints_by_kind(self, pod: Object, request: KindSizes, containers: list[Object]) -> ResourceHints:
        for container in containers:
            blocks = self._state.blocks(uid_of(pod), container["name"])
            if blocks:  # after a restart: what it has is what it may have
                own = TopologyHint(frozenset(blocks[0].numaAffinity), preferred=True)
                return {kind: [own] for kind in request}
        hints = self._hints(pod, request)
        return dict.fromkeys(request, hints)

    def _hints(self, pod: Object, request: KindSizes) -> list[TopologyHint]:
        machine = self._state.machine
        smallest = len(machine)
        found = []
        for nodes in node_sets(sorted(machine)):
            if any(self._sum_of("allocatable", nodes, kind) < size for kind, size in request.items()):
                continue
            smallest = min(smallest, len(nodes))
            if self._is_open(nodes) and self._has_enough(pod, nodes, request):
                found.append(nodes)
        return preferring_narrowest(found, smallest)

    def _is_open(self, nodes: NumaNodes) -> bool:
        """Tell whether nodes may give memory together."""
        machine = self._state.machine
        if len(nodes) == 1:
            return all(len(machine[node].cells) == 1 for node in nodes)
        return all(not machine[node].numberOfAssignments or set(machine[node].cells) == nodes for node in nodes)

    def _has_enough(self, pod: Object, nodes: NumaNodes, request: KindSizes) -> bool:
        return all(
            self._sum_of("free", nodes, kind) + sum(block.size for block in self._reusable(pod, "", nodes, kind))
            >= size
            for kind, size in request.items()
        )

    def _sum_of(self, what: str, nodes: Iterable[int], kind: str) -> int:
        tables = (self._state.machine[node].memoryMap.get(kind) for node in nodes)
        return sum(getattr(table, what) for table in tables if table is not None)


def _sum(one: KindSizes, other: KindSizes) -> KindSizes:
    return {kind: one.get(kind, 0) + other.get(kind, 0) for kind in one.keys() | other.keys()}


def _most(one: KindSizes, other: KindSizes) -> KindSizes:
    return {kind: max(one.get(kind, 0), other.get(kind, 0)) for kind in one.keys() | other.keys()}
