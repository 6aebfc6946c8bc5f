"""NodeResourcesMostAllocated: fill nodes up, so that others stay empty and can be given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.scheduling.resource_scores import most, weights_of

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Scope, ScorePlugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, NodeTable, PodInfo


class NodeResourcesMostAllocated(ScorePlugin):
    """Scores all nodes at once by the mean used share of their resources once the pod runs there.

    Settings: ``resources`` (name and weight, 1 to 100); cpu and memory alike if there are none.
    Source: kubernetes 1.22 ``pkg/scheduler/framework/plugins/noderesources/most_allocated.go``.
    """

    scope = Scope.NODE_AND_PODS

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a weight that is not valid.
        """
        super().__init__(context)
        self._weights = weights_of(context.settings.get("resources") if context is not None else None)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 (empty) to `MAX_SCORE` (full).

        What a node has none of does not count there, nor does an extended resource that the pod does not request.
        """
        return most(pod, nodes, self._weights)
