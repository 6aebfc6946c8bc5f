"""NodeResourcesFit: what a pod requests must be free on its node; how full that gets decides among several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.resource_scores import CPU_AND_MEMORY, by_shape, least, most, shape_of, weights_of

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

TOO_MANY_PODS = "Too many pods"
STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    """Compares requests with what is free, resource by resource, and scores by a strategy.

    Settings: ``ignoredResources``, ``ignoredResourceGroups``, ``scoringStrategy`` with ``type``, ``resources`` and
    ``requestedToCapacityRatio.shape``.
    Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/fit.go``.
    """

    scope = Scope.NODE_AND_PODS
    wakes_on = frozenset({"node", "pod gone"})

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: an unknown strategy, or a weight or shape that is not valid.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._ignored = frozenset(settings.get("ignoredResources") or ())
        self._ignored_groups = tuple(f"{group}/" for group in settings.get("ignoredResourceGroups") or ())
        strategy = settings.get("scoringStrategy") or {}
        self._strategy = strategy.get("type") or STRATEGIES[0]
        if self._strategy not in STRATEGIES:
            raise UsageError(f"scoringStrategy.type: {self._strategy!r} is none of {', '.join(STRATEGIES)}")
        self._weights = weights_of(strategy.get("resources")) if strategy else CPU_AND_MEMORY
        ratio = strategy.get("requestedToCapacityRatio") or {}
        self._shape = shape_of(ratio.get("shape")) if self._strategy == STRATEGIES[2] else ()

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where every requested resource is free; a node may lack several."""
        mask = np.ones(len(nodes), dtype=bool)
        rows = len(pod.requests)
        if not np.count_nonzero(nodes.requested[:rows] + pod.requests > nodes.allocatable[:rows]):
            return Filtered(mask)
        reasons = {}
        unresolvable = np.zeros(len(nodes), dtype=bool)
        for row, wanted in enumerate(pod.requests[:, 0].tolist()):
            if not wanted:
                continue
            resource = nodes.resources[row]
            if resource in self._ignored or resource.startswith(self._ignored_groups):
                continue
            allocatable = nodes.allocatable[row]
            lacking = nodes.requested[row] + wanted > allocatable
            if lacking.any():
                reasons[TOO_MANY_PODS if resource == "pods" else f"Insufficient {resource}"] = lacking
                mask &= ~lacking
                unresolvable |= wanted > allocatable
        return Filtered(mask, reasons, unresolvable)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node by the strategy."""
        if self._strategy == STRATEGIES[0]:
            return least(pod, nodes, self._weights)
        if self._strategy == STRATEGIES[1]:
            return most(pod, nodes, self._weights)
        return by_shape(pod, nodes, self._weights, self._shape)
