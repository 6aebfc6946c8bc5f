"""NodeResourcesMostAllocated: fill nodes up, so that others stay empty and can be given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.scheduling.resource_scores import CPU_AND_MEMORY, most

from hyperkube.hookspecs.scheduling import Scope, ScorePlugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, NodeTable, PodInfo


class NodeResourcesMostAllocated(ScorePlugin):
    """Scores all nodes at once by the mean used share of cpu and memory once the pod runs there."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 (empty) to `MAX_SCORE` (full).

        A resource of which a node has none does not count. Both are [2, node]: cpu and memory.
        Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/most_allocated.go``.
        """
        return most(pod, nodes, CPU_AND_MEMORY)
