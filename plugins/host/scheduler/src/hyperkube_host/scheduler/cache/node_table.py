"""All nodes as arrays, kept current change by change; see `hyperkube.hookspecs.node_table.NodeTable` for the shape.

Adding or removing a pod touches one column, news of a node that say nothing new for scheduling touch none. The caller
holds `lock` while it changes the table and while plugins read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_host.scheduler.cache.assigned_pods import same_for_scheduling
from hyperkube_host.scheduler.cache.change_log import ChangeLog
from hyperkube_host.scheduler.cache.node_labels import NodeLabels
from hyperkube_host.scheduler.cache.node_resources import NodeResources
from hyperkube_host.scheduler.cache.pod_counts import PodCounts, PodCountsIndex
from hyperkube_host.scheduler.cache.requests import BASE_RESOURCES, Requests, amount, requests_of
from hyperkube_host.scheduler.cache.table_lock import TableLock
from hyperkube_lib.resized_pods import is_infeasible, resized_statuses

from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName, Object, key_of, labels_of, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.node_table import Mask

_FIRST_CAPACITY = 8


@dataclass(slots=True)
class _Placed:
    """A pod on a node, with what is counted of it; one whose node is not known is in no group."""

    pod: Object
    requests: Requests
    group: PodCounts | None


_Pods = dict[str, _Placed]


class Nodes:
    """The node table of one scheduler; implements `hyperkube.hookspecs.node_table.NodeTable`."""

    def __init__(self) -> None:
        self.lock = TableLock()
        self.names: list[NodeName] = []
        self.resources: list[str] = list(BASE_RESOURCES)
        self._rows = {name: row for row, name in enumerate(BASE_RESOURCES)}
        self._index: dict[NodeName, int] = {}
        self._objects: list[Object] = []
        self._pods: list[_Pods] = []
        self._pods_of_unknown_nodes: dict[NodeName, _Pods] = {}
        self._node_resources = NodeResources(len(BASE_RESOURCES), _FIRST_CAPACITY)
        self._unschedulable = np.zeros(_FIRST_CAPACITY, dtype=bool)
        self._labels = NodeLabels(self._objects)
        self._pod_counts = PodCountsIndex()
        self._changes = ChangeLog()
        self._node_changes = ChangeLog()
        self._snapshot: tuple[NodeName, ...] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def generation(self) -> int:
        """Grows with every change."""
        return self._changes.generation

    @property
    def node_generation(self) -> int:
        """Grows with every change of a node."""
        return self._node_changes.generation

    @property
    def allocatable(self) -> NDArray[np.int64]:
        """[resource, node]: what pods may request in all."""
        return self._node_resources.allocatable[:, : len(self.names)]

    @property
    def requested(self) -> NDArray[np.int64]:
        """[resource, node]: what the pods there request."""
        return self._node_resources.requested[:, : len(self.names)]

    @property
    def non_zero_requested(self) -> NDArray[np.int64]:
        """[2, node]: cpu and memory, with defaults for pods that request none."""
        return self._node_resources.non_zero[:, : len(self.names)]

    @property
    def unschedulable(self) -> Mask:
        """[node]: ``spec.unschedulable``."""
        return self._unschedulable[: len(self.names)]

    def resources_of_nodes(self, columns: NDArray[np.intp]) -> NodeResources:
        """Return a copy of all numbers of some nodes."""
        return self._node_resources.of(columns)

    def node(self, index: int) -> Object:
        """Return a node object, shared and read-only."""
        return self._objects[index]

    def pods(self, index: int) -> Sequence[Object]:
        """Return the pods on a node, shared and read-only."""
        return [placed.pod for placed in self._pods[index].values()]

    def pod_counts(self, *, with_affinity: bool = False, namespace: str | None = None) -> Sequence[PodCounts]:
        """Return all placed pods, or those with pod affinity, of all namespaces or one, in groups."""
        if not with_affinity:
            return self._pod_counts.listed() if namespace is None else self._pod_counts.in_namespace(namespace)
        return [each for each in self._pod_counts.with_affinity() if namespace in {None, each.namespace}]

    def index_of(self, name: NodeName) -> int | None:
        """Return a node's column."""
        return self._index.get(name)

    def names_snapshot(self) -> tuple[NodeName, ...]:
        """Return the names as they are now; the same tuple until a node comes or goes."""
        if self._snapshot is None:
            self._snapshot = tuple(self.names)
        return self._snapshot

    def label(self, key: str) -> Sequence[str | None]:
        """Return each node's value of a label."""
        codes, values = self._labels.codes(key)
        return [values[code] if code >= 0 else None for code in codes.tolist()]

    def label_codes(self, key: str) -> tuple[NDArray[np.int32], Sequence[str]]:
        """Return each node's value of a label as a code, -1 for none, and the values."""
        return self._labels.codes(key)

    def label_equals(self, key: str, value: str) -> Mask:
        """Return which nodes carry a label with that value."""
        return self._labels.mask(key, value)

    def label_exists(self, key: str) -> Mask:
        """Return which nodes carry a label at all."""
        return self._labels.mask(key, None)

    def taints(self) -> Mapping[tuple[str, str, str], Mask]:
        """Return each distinct (key, value, effect) and the nodes that have it."""
        return self._labels.taints()

    def changed_since(self, generation: int) -> Sequence[int] | None:
        """Return the columns that changed since a generation, or None if all may have."""
        return self._changes.since(generation)

    def nodes_changed_since(self, generation: int) -> Sequence[int] | None:
        """Return the columns whose nodes changed since a `node_generation`, or None if all may have."""
        return self._node_changes.since(generation)

    def put_node(self, node: Object) -> bool:
        """Add a node, or take over its new state; tell whether that changes anything for scheduling."""
        name = NodeName(name_of(node))
        index = self._index.get(name)
        if index is None:
            self._describe(self._append(name, node), node)
            return True
        old = self._objects[index]
        self._objects[index] = node
        if _is_equal_for_scheduling(old, node):
            return False
        self._describe(index, node)
        self._labels.change(index, node)
        self._changes.touch(index)
        self._node_changes.touch(index)
        return True

    def remove_node(self, name: NodeName) -> None:
        """Remove a node; its pods are remembered until they go too or it comes back."""
        index = self._index.get(name)
        if index is None:
            return
        pods = self._ungroup(index)
        if pods:
            self._pods_of_unknown_nodes[name] = pods
        del self._index[name]
        last = len(self.names) - 1
        if index != last:
            moved = self._ungroup(last)
            self._node_resources.cells[index] = self._node_resources.cells[last]
            self._unschedulable[index] = self._unschedulable[last]
            self.names[index], self._objects[index] = self.names[last], self._objects[last]
            self._pods[index] = moved
            self._index[self.names[index]] = index
            for placed in moved.values():
                self._regroup(placed, index, 1)
        self.names.pop()
        self._objects.pop()
        self._pods.pop()
        self._reshape()

    def put_pod(self, pod: Object, name: NodeName, requests: Requests | None = None) -> None:
        """Count a pod on a node: one that is bound there, or is assumed to be.

        Args:
            pod: the pod.
            name: the node; one that is not known yet gets its pods when it comes.
            requests: what the pod requests, if that is known already.
        """
        key = key_of(pod)
        index = self._index.get(name)
        if index is None:
            self._pods_of_unknown_nodes.setdefault(name, {})[key] = _Placed(pod, requests or requests_of(pod), None)
            return
        pods = self._pods[index]
        before = pods.get(key)
        group = self._pod_counts.group_of(pod)
        if before is not None and _same(before.pod, pod):
            if before.group is group:
                before.pod = pod
                return
            requests = requests or before.requests  # only its labels changed: a binding adds its node's topology
        placed = _Placed(pod, requests or requests_of(pod), group)
        if before is not None:
            self._count(index, before, -1)
        pods[key] = placed
        self._count(index, placed, 1)
        self._changes.touch(index)

    def remove_pod(self, key: str, name: NodeName) -> None:
        """Stop counting a pod on a node; harmless when it is not counted there."""
        index = self._index.get(name)
        if index is None:
            homeless = self._pods_of_unknown_nodes.get(name, {})
            homeless.pop(key, None)
            if not homeless:
                self._pods_of_unknown_nodes.pop(name, None)
            return
        placed = self._pods[index].pop(key, None)
        if placed is not None:
            self._count(index, placed, -1)
            self._changes.touch(index)

    def add_resources(self, amounts: Mapping[str, int]) -> None:
        """Make a row for each resource that has none yet."""
        strange = [name for name in amounts if name not in self._rows]
        if strange:
            self.resources = [*self.resources, *strange]
            self._rows = {name: row for row, name in enumerate(self.resources)}
            self._grow(len(self._node_resources))
            self._changes.reset()
            self._node_changes.reset()

    def _append(self, name: NodeName, node: Object) -> int:
        index = len(self.names)
        if index == len(self._node_resources):
            self._grow(2 * index)
        self._node_resources.cells[index] = 0
        self.names.append(name)
        self._objects.append(node)
        self._pods.append(self._pods_of_unknown_nodes.pop(name, {}))
        self._index[name] = index
        for placed in self._pods[index].values():
            placed.group = self._pod_counts.group_of(placed.pod)
            self._count(index, placed, 1)
        self._reshape()
        return index

    def _describe(self, index: int, node: Object) -> None:
        resources = read(node.get("status", {}).get("allocatable"))
        amounts = {name: amount(name, quantity) for name, quantity in resources.items()}
        self.add_resources(amounts)
        for row, resource in enumerate(self.resources):
            self._node_resources.allocatable[row, index] = amounts.get(resource, 0)
        self._unschedulable[index] = bool(node.get("spec", {}).get("unschedulable"))

    def _count(self, index: int, placed: _Placed, sign: int) -> None:
        requests = placed.requests
        if not requests.amounts.keys() <= self._rows.keys():
            self.add_resources(requests.amounts)
        requested, rows = self._node_resources.requested, self._rows
        for resource, value in requests.amounts.items():
            requested[rows[resource], index] += sign * value
        self._node_resources.non_zero[0, index] += sign * requests.non_zero_cpu
        self._node_resources.non_zero[1, index] += sign * requests.non_zero_memory
        self._regroup(placed, index, sign)

    def _regroup(self, placed: _Placed, index: int, sign: int) -> None:
        if placed.group is not None:
            self._pod_counts.count(placed.group, index, sign)

    def _ungroup(self, index: int) -> _Pods:
        pods = self._pods[index]
        for placed in pods.values():
            self._regroup(placed, index, -1)
        return pods

    def _grow(self, capacity: int) -> None:
        self._node_resources = self._node_resources.grown(len(self.resources), capacity)
        unschedulable = np.zeros(capacity, dtype=bool)
        unschedulable[: len(self._unschedulable)] = self._unschedulable
        self._unschedulable = unschedulable

    def _reshape(self) -> None:
        self._changes.reset()
        self._node_changes.reset()
        self._labels.forget()
        self._snapshot = None


def _same(old: Object, new: Object) -> bool:
    """Tell whether two states of a placed pod mean the same to its node."""
    if not same_for_scheduling(old["spec"], new["spec"]):
        return False
    resizing = resized_statuses(new)
    return resized_statuses(old) == resizing and (not resizing or is_infeasible(old) == is_infeasible(new))


def _is_equal_for_scheduling(old: Object, new: Object) -> bool:
    """Tell whether nothing differs that a scheduling plugin may look at: heartbeats change conditions only."""
    if old.get("spec") != new.get("spec") or labels_of(old) != labels_of(new):
        return False
    if old["metadata"].get("annotations") != new["metadata"].get("annotations"):
        return False
    before, after = old.get("status") or {}, new.get("status") or {}
    return all(before.get(part) == after.get(part) for part in ("allocatable", "images", "declaredFeatures"))
