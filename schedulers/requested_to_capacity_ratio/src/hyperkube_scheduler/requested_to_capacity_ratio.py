"""RequestedToCapacityRatio: prefer nodes by any broken line over how full they get; the 1.20 plugin of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperkube_lib.scheduling.resource_scores import by_shape, ratio_settings, shape_of, weights_of

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

EMPTIEST_FIRST = ({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0})


class RequestedToCapacityRatio(ScorePlugin):
    """Settings: ``shape`` (points of utilization 0-100 and score 0-10) and ``resources`` (name, weight).

    Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio.go``.
    """

    scope = Scope.NODE_AND_PODS

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Take the only ``requestedToCapacityRatioArguments`` of a 1.x policy."""
        return ratio_settings(arguments["requestedToCapacityRatioArguments"][0])

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a shape or weight that is not valid.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._shape = shape_of(settings.get("shape") or EMPTIEST_FIRST)
        self._weights = weights_of(settings.get("resources"), greatest=None)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `MAX_SCORE`."""
        return by_shape(pod, nodes, self._weights, self._shape)
