"""Some columns of the node table, as a table of their own: what plugins of a narrow scope are asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_host.scheduler.cache.pod_counts import PartialPodCounts

from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from numpy.typing import NDArray

    from hyperkube.hookspecs.node_table import Mask, PodCounts


class Columns:
    """A part of a table, as of now; implements `hyperkube.hookspecs.node_table.NodeTable`."""

    def __init__(self, table: Nodes, columns: Sequence[int]) -> None:
        self._table = table
        self._columns = columns
        self.index = np.array(columns, dtype=np.intp)
        node_resources = table.resources_of_nodes(self.index)
        self.allocatable, self.requested, self.non_zero_requested = (
            node_resources.allocatable, node_resources.requested, node_resources.non_zero,
        )  # fmt: skip
        self.resources = table.resources

    @property
    def unschedulable(self) -> Mask:
        """[node], of these nodes."""
        return self._table.unschedulable[self.index]

    @property
    def generation(self) -> int:
        """The table's generation."""
        return self._table.generation

    @property
    def node_generation(self) -> int:
        """The table's generation of nodes."""
        return self._table.node_generation

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def names(self) -> Sequence[NodeName]:
        """The nodes' names."""
        return [self._table.names[column] for column in self._columns]

    def node(self, index: int) -> Object:
        """Return a node object."""
        return self._table.node(self._columns[index])

    def pods(self, index: int) -> Sequence[Object]:
        """Return the pods on a node."""
        return self._table.pods(self._columns[index])

    def pod_counts(self, *, with_affinity: bool = False, namespace: str | None = None) -> Sequence[PodCounts]:
        """Return the groups that have pods in this part, with their counts here."""
        parts: list[PodCounts] = []
        for group in self._table.pod_counts(with_affinity=with_affinity, namespace=namespace):
            counts = {
                position: group.counts[column]
                for position, column in enumerate(self._columns)
                if column in group.counts
            }
            if counts:
                parts.append(PartialPodCounts(group, counts))
        return parts

    def label(self, key: str) -> Sequence[str | None]:
        """Return each node's value of a label."""
        codes, values = self.label_codes(key)
        return [values[code] if code >= 0 else None for code in codes.tolist()]

    def label_codes(self, key: str) -> tuple[NDArray[np.int32], Sequence[str]]:
        """Return each node's value of a label as a code, and the values."""
        codes, values = self._table.label_codes(key)
        return codes[self.index], values

    def label_equals(self, key: str, value: str) -> Mask:
        """Return which nodes carry a label with that value."""
        return self._table.label_equals(key, value)[self.index]

    def label_exists(self, key: str) -> Mask:
        """Return which nodes carry a label at all."""
        return self._table.label_exists(key)[self.index]

    def taints(self) -> Mapping[tuple[str, str, str], Mask]:
        """Return each distinct taint and the nodes here that have it."""
        return {key: mask[self.index] for key, mask in self._table.taints().items()}

    def changed_since(self, generation: int) -> Sequence[int] | None:
        """Return that everything may have changed: a part is made anew for each question."""
        return None

    def nodes_changed_since(self, generation: int) -> Sequence[int] | None:
        """Return the same."""
        return None
