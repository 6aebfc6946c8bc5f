"""NodeResourcesLeastAllocated: prefer the nodes that keep the largest share of their resources free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.scheduling.resource_scores import CPU_AND_MEMORY, least

from hyperkube.hookspecs.scheduling import Scope, ScorePlugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, NodeTable, PodInfo


class NodeResourcesLeastAllocated(ScorePlugin):
    """Scores all nodes at once by the mean free share of cpu and memory once the pod runs there."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 (full) to `MAX_SCORE` (empty).

        A resource of which a node has none does not count. Both are [2, node]: cpu and memory.
        Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/least_allocated.go``.
        """
        return least(pod, nodes, CPU_AND_MEMORY)
