"""NodeResourcesFit: what a pod requests must be free on its node; how full that gets decides among several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.device_classes import DeviceClasses, may_stand_for_class
from hyperkube_lib.scheduling.resource_scores import by_shape, least, most, shape_of, weights_of

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.resource_lists import is_extended
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.names import qualified_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hyperkube.hookspecs.scheduling import IntScores

TOO_MANY_PODS = "Too many pods"
GATE = "DRAExtendedResource"
CLASSES = "deviceclasses"
STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    """Compares requests with what is free, resource by resource, and scores by a strategy.

    Settings: ``ignoredResources``, ``ignoredResourceGroups``, ``scoringStrategy`` with ``type``, ``resources`` and
    ``requestedToCapacityRatio.shape``.
    Where a node has none of an extended resource that a device class stands for, the plugin ``DynamicResources``
    decides, unless the gate ``DRAExtendedResource`` is set to false.
    Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/fit.go``.
    """

    scope = Scope.NODE_AND_PODS
    events_to_register = frozenset({"node", "pod gone", CLASSES})
    _classes: DeviceClasses | None = None

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: an unknown strategy, or a name, weight or shape that is not valid.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._ignored = _names("ignoredResources", settings.get("ignoredResources") or ())
        self._ignored_groups = _names("ignoredResourceGroups", settings.get("ignoredResourceGroups") or (), whole=True)
        strategy = settings.get("scoringStrategy") or {}
        self._strategy = strategy.get("type") or STRATEGIES[0]
        if self._strategy not in STRATEGIES:
            known = ", ".join(f'"{each}"' for each in STRATEGIES)
            raise UsageError(f'scoringStrategy.type: Unsupported value: "{self._strategy}": supported values: {known}')
        self._weights = weights_of(strategy.get("resources"), "scoringStrategy.resources")
        ratio = strategy.get("requestedToCapacityRatio") or {}
        self._shape = shape_of(ratio.get("shape"), "scoringStrategy.shape") if self._strategy == STRATEGIES[2] else ()

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look device classes up in the shared caches."""
        context = self.context
        if context is not None and context.informers is not None and context.gates.get(GATE, True):
            self._classes = DeviceClasses(context.informers, lambda: wake(CLASSES))

    def stamp(self) -> int:
        """Return how often device classes changed."""
        return self._classes.version if self._classes is not None else 0

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where every requested resource is free; a node may lack several.

        A node that has less than is requested even when it is empty is hopeless; the number of pods never makes it so.
        """
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
            if self._ignores(resource):
                continue
            allocatable = nodes.allocatable[row]
            lacking = nodes.requested[row] + wanted > allocatable
            if lacking.any() and self._is_backed(resource):
                lacking &= allocatable > 0
            if lacking.any():
                mask &= ~lacking
                if resource == "pods":
                    reasons[TOO_MANY_PODS] = lacking
                else:
                    reasons[f"Insufficient {resource}"] = lacking
                    unresolvable |= lacking & (wanted > allocatable)
        return Filtered(mask, reasons, unresolvable)

    def _is_backed(self, resource: str) -> bool:
        """Tell whether a device class stands for a resource."""
        return (
            self._classes is not None
            and may_stand_for_class(resource)
            and self._classes.standing_for(resource) is not None
        )

    def _ignores(self, resource: str) -> bool:
        """Tell whether the settings ask not to look at a resource; only extended ones can be left out."""
        if not self._ignored and not self._ignored_groups:
            return False
        return is_extended(resource) and (
            resource in self._ignored or resource.partition("/")[0] in self._ignored_groups
        )

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node by the strategy."""
        if self._strategy == STRATEGIES[0]:
            return least(pod, nodes, self._weights)
        if self._strategy == STRATEGIES[1]:
            return most(pod, nodes, self._weights)
        return by_shape(pod, nodes, self._weights, self._shape)


def _names(path: str, given: Iterable[str], *, whole: bool = False) -> frozenset[str]:
    """Return checked names of resources, or with `whole` of their domains, which have no slash."""
    found = tuple(given)
    for index, name in enumerate(found):
        wrong = ["resource group name can't contain '/'"] if whole and "/" in name else qualified_name(name)
        for said in wrong:
            raise UsageError(f'{path}[{index}]: Invalid value: "{name}": {said}')
    return frozenset(found)
