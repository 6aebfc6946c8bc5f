"""The numbers of all nodes: what they have and what the pods there request.

A node's numbers lie side by side: one pod changes, and one decision reads, all of a few nodes. Plugins see them turned
around, a row per resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 8
"""Nodes whose numbers are copied one by one: a decision asks about those that changed since the one before."""
NON_ZERO = 2
"""Cpu and memory as scoring counts them."""


class NodeResources:
    """Numbers of some nodes.

    Attributes:
        cells: [node, number]: per resource what is allocatable, then per resource what is requested, then `non_zero`.
        allocatable: [resource, node], a view.
        requested: [resource, node], a view.
        non_zero: [2, node], a view.
    """

    __slots__ = ("allocatable", "cells", "non_zero", "requested")

    def __init__(self, resources: int, nodes: int, cells: NDArray[np.int64] | None = None) -> None:
        """Take the numbers, or start with zeros."""
        self.cells = np.zeros((nodes, 2 * resources + NON_ZERO), dtype=np.int64) if cells is None else cells
        turned = self.cells.T
        self.allocatable: NDArray[np.int64] = turned[:resources]
        self.requested: NDArray[np.int64] = turned[resources:-NON_ZERO]
        self.non_zero: NDArray[np.int64] = turned[-NON_ZERO:]

    def __len__(self) -> int:
        return len(self.cells)

    def of(self, nodes: NDArray[np.intp]) -> NodeResources:
        """Return a copy of some nodes' numbers."""
        if len(nodes) > FEW:
            return NodeResources(len(self.allocatable), len(nodes), self.cells.take(nodes, axis=0))
        # Row by row, as `take` gives the interpreter away: in a burst one of many other threads would keep it for long.
        cells = np.empty((len(nodes), self.cells.shape[1]), dtype=np.int64)
        for row, node in enumerate(nodes.tolist()):
            cells[row] = self.cells[node]
        return NodeResources(len(self.allocatable), len(nodes), cells)

    def grown(self, resources: int, nodes: int) -> NodeResources:
        """Return the same with room for more."""
        larger = NodeResources(resources, nodes)
        for mine, theirs in (
            (self.allocatable, larger.allocatable),
            (self.requested, larger.requested),
            (self.non_zero, larger.non_zero),
        ):
            theirs[: mine.shape[0], : mine.shape[1]] = mine
        return larger
