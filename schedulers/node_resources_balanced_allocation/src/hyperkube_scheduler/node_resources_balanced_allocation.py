"""NodeResourcesBalancedAllocation: use the resources of a node alike, so that none is left over alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

CPU_AND_MEMORY = ("cpu", "memory")
CPU_AND_MEMORY_ROWS = [0, 1]
"""Where these are in every table."""
BASE = ("cpu", "memory", "ephemeral-storage", "pods")


class NodeResourcesBalancedAllocation(ScorePlugin):
    """Scores all nodes at once by how close the used shares of their resources would be.

    Settings: ``resources`` (name, and weight 1); cpu and memory if there are none.
    Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``.
    """

    scope = Scope.NODE_AND_PODS

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a weight other than 1.
        """
        super().__init__(context)
        rows = (context.settings.get("resources") if context is not None else None) or ()
        for row in rows:
            if int(row.get("weight") or 1) != 1:
                raise UsageError(f"resource weight of {row['name']} must be 1, not {row['weight']}")
        self._names = tuple(row["name"] for row in rows) or CPU_AND_MEMORY

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod requests none of them: scoring it would pile such pods onto one node."""
        return not any(pod.requests[row, 0] for row in self._rows(pod, nodes))

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, `MAX_SCORE` for equal shares.

        What a node has none of does not count there, nor does an extended resource that the pod does not request.
        """
        rows = self._rows(pod, nodes)
        picked = slice(0, 2) if rows is CPU_AND_MEMORY_ROWS else rows
        allocatable = nodes.allocatable[picked]
        there = allocatable > 0
        complete = np.count_nonzero(there) == there.size
        asked = nodes.requested[picked] + pod.requests[picked]
        shares = np.minimum(asked / (allocatable if complete else np.maximum(allocatable, 1)), 1.0)
        if len(rows) == 2:
            spread = np.abs(shares[0] - shares[1]) / 2
            if not complete:
                spread = np.where(there.all(axis=0), spread, 0.0)
        else:
            count = there.sum(axis=0).clip(min=1)
            mean = np.where(there, shares, 0.0).sum(axis=0) / count
            spread = np.sqrt(np.where(there, (shares - mean) ** 2, 0.0).sum(axis=0) / count)
        scores: IntScores = ((1 - spread) * MAX_SCORE).astype(np.int64)
        return scores

    def _rows(self, pod: PodInfo, nodes: NodeTable) -> list[int]:
        if self._names == CPU_AND_MEMORY:
            return CPU_AND_MEMORY_ROWS
        known = nodes.resources
        rows = [known.index(name) for name in self._names if name in known]
        return [row for row in rows if row < len(pod.requests) and (known[row] in BASE or pod.requests[row, 0])]
