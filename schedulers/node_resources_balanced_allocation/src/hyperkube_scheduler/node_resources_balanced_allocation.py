"""NodeResourcesBalancedAllocation: use the resources of a node alike, so that none is left over alone.

It is the change that counts: a node that the pod brings into balance is better than one that has always been.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores

CPU_AND_MEMORY = ("cpu", "memory")
CPU_AND_MEMORY_ROWS = [0, 1]
"""Where these are in every table."""
BASE = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesBalancedAllocation(ScorePlugin):
    """Scores all nodes at once by how much closer together the pod would bring the used shares of their resources.

    Settings: ``resources`` (name, and weight 1); cpu and memory if there are none.
    Source: kubernetes 1.36 ``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``.
    """

    scope = Scope.NODE_AND_PODS

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a weight other than 1, or a resource named twice.
        """
        super().__init__(context)
        names: list[str] = []
        for index, row in enumerate((context.settings.get("resources") if context is not None else None) or ()):
            path, name, weight = f"resources[{index}]", row["name"], int(row.get("weight") or 1)
            if name in names:
                raise UsageError(f'{path}.name: Duplicate value: "{name}"')
            if weight != 1:
                raise UsageError(f"{path}.weight: Invalid value: {weight}: must be 1")
            names.append(name)
        self._names = tuple(names) or CPU_AND_MEMORY

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod requests none of them: scoring it would pile such pods onto one node."""
        return not any(pod.requests[row, 0] for row in self._rows(pod, nodes))

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node: 75 where the pod changes nothing, 50 to `MAX_SCORE` from worst to best.

        What a node has none of does not count there, nor does an extended resource that the pod does not request.
        """
        rows = self._rows(pod, nodes)
        picked = slice(0, 2) if rows is CPU_AND_MEMORY_ROWS else rows
        used = nodes.requested[picked]
        before_and_after = np.empty((2, *used.shape))
        before_and_after[0] = used
        np.add(used, pod.requests[picked], out=before_and_after[1])
        before, after = _balance(before_and_after, nodes.allocatable[picked])
        scores: IntScores = MAX_SCORE // 2 + (MAX_SCORE // 2 + after - before) // 2
        return scores

    def _rows(self, pod: PodInfo, nodes: NodeTable) -> list[int]:
        if self._names == CPU_AND_MEMORY:
            return CPU_AND_MEMORY_ROWS
        known = nodes.resources
        rows = [known.index(name) for name in self._names if name in known and name != "pods"]
        return [row for row in rows if row < len(pod.requests) and (known[row] in BASE or pod.requests[row, 0])]


def _balance(used: NDArray[np.float64], allocatable: NDArray[np.int64]) -> IntScores:
    """Return for each node `MAX_SCORE` less the standard deviation of its used shares, in percent.

    `used` is [case, resource, node] and gets overwritten, `allocatable` [resource, node], the result [case, node]; more
    than there is counts as all of it.
    """
    complete = np.count_nonzero(allocatable) == allocatable.size
    used /= allocatable if complete else np.maximum(allocatable, 1)
    shares = np.minimum(used, 1.0, out=used)
    if len(allocatable) == 2:
        spread = np.abs(shares[:, 0] - shares[:, 1]) / 2
        if not complete:
            spread = np.where((allocatable > 0).all(axis=0), spread, 0.0)
    else:
        there = allocatable > 0
        count = there.sum(axis=0).clip(min=1)
        mean = np.where(there, shares, 0.0).sum(axis=1) / count
        spread = np.sqrt(np.where(there, (shares - mean[:, None]) ** 2, 0.0).sum(axis=1) / count)
        least, most = np.where(there, shares, 1.0).min(axis=1), np.where(there, shares, 0.0).max(axis=1)
        spread = np.where(count == 2, (most - least) / 2, spread)
    scores: IntScores = ((1 - spread) * MAX_SCORE).astype(np.int64)
    return scores
