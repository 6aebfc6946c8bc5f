"""NodeResourcesBalancedAllocation: use cpu and memory of a node alike, so that neither is left over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import MAX_SCORE, Scope, ScorePlugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, NodeTable, PodInfo


class NodeResourcesBalancedAllocation(ScorePlugin):
    """Scores all nodes at once by how close their used shares of cpu and memory would be."""

    scope = Scope.NODE_AND_PODS

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod requests neither: scoring it would pile such pods onto one node."""
        return not pod.requests[:2].any()

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, `MAX_SCORE` for equal shares.

        Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``.
        """
        allocatable = nodes.allocatable[:2]
        shares = ((nodes.requested[:2] + pod.requests[:2]) / allocatable.clip(min=1)).clip(max=1.0)
        both = (allocatable > 0).all(axis=0)
        spread = np.where(both, np.abs(shares[0] - shares[1]) / 2, 0.0)
        scores: IntScores = ((1 - spread) * MAX_SCORE).astype(np.int64)
        return scores
