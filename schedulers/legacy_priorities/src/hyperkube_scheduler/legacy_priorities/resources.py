"""What 1.x made of cpu and memory: requested, balanced, by a broken line, and limits."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from hyperkube_lib.scheduling.resource_scores import by_shape, ratio_settings, weights_of
from hyperkube_scheduler.legacy_priorities.scale import BEST

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.resource_lists import ResourceList, add, raise_to, read
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask

EMPTIEST_FIRST = ({"utilization": 0, "score": 10}, {"utilization": 100, "score": 0})
"""The usual shape of `RequestedToCapacityRatioPriority`."""


def _asked(pod: PodInfo, nodes: NodeTable) -> tuple[NDArray[np.int64], NDArray[np.int64], Mask]:
    """Return cpu and memory as [2, node]: requested with the pod there, allocatable, and where the first fits."""
    asked, has = nodes.non_zero_requested + pod.non_zero_requests, nodes.allocatable[:2]
    return asked, has, (has > 0) & (asked <= has)


class LeastRequestedPriority(ScorePlugin):
    """The mean of the free shares of cpu and memory, each a whole number; what does not fit scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, fits = _asked(pod, nodes)
        scores: IntScores = np.where(fits, (has - asked) * BEST // has.clip(min=1), 0).sum(axis=0) // 2
        return scores


class MostRequestedPriority(ScorePlugin):
    """The mean of the used shares of cpu and memory, each a whole number; what does not fit scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, fits = _asked(pod, nodes)
        scores: IntScores = np.where(fits, asked * BEST // has.clip(min=1), 0).sum(axis=0) // 2
        return scores


class BalancedResourceAllocation(ScorePlugin):
    """How close the used shares of cpu and memory are; a full node scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, _ = _asked(pod, nodes)
        shares = np.where(has > 0, asked / has.clip(min=1), 1.0)
        scores: IntScores = ((1 - np.abs(shares[0] - shares[1])) * BEST).astype(np.int64)
        return np.where((shares >= 1).any(axis=0), 0, scores)


class RequestedToCapacityRatioPriority(ScorePlugin):
    """Settings: ``shape`` (points of utilization 0-100 and score 0-10); ``resources`` (name, weight), as in 1.17.

    Without resources it is the mean of cpu and memory, a resource that the node has none of counting as full.
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
        self._shape = _shape(settings.get("shape") or EMPTIEST_FIRST)
        resources = settings.get("resources")
        self._weights = weights_of(resources) if resources else None

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        if self._weights is not None:
            return by_shape(pod, nodes, self._weights, self._shape)
        asked, has, fits = _asked(pod, nodes)
        used = np.where(fits, 100 - (has - asked) * 100 // has.clip(min=1), 100)
        cpu, memory = self._height(used)
        scores: IntScores = (cpu + memory) // 2
        return scores

    def _height(self, used: NDArray[np.int64]) -> NDArray[np.int64]:
        """Interpolate in integers that truncate towards zero, as Go's do."""
        heights = np.full(used.shape, self._shape[-1][1], dtype=np.int64)
        for (left, low), (right, high) in reversed(list(pairwise(self._shape))):
            step = np.trunc((high - low) * (used - left) / (right - left)).astype(np.int64)
            heights = np.where(used <= right, low + step, heights)
        return np.where(used <= self._shape[0][0], self._shape[0][1], heights)


class ResourceLimitsPriority(ScorePlugin):
    """One point for nodes that could give the pod all the cpu, or all the memory, of its limits: it breaks ties."""

    scope = Scope.NODE

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return 0 or 1."""
        limits = _limits(pod.pod)
        cpu = limits["cpu"].milli_value() if "cpu" in limits else 0
        memory = limits["memory"].value() if "memory" in limits else 0
        wanted, has = np.array([[cpu], [memory]], dtype=np.int64), nodes.allocatable[:2]
        cpu_fits, memory_fits = (wanted > 0) & (has > 0) & (wanted <= has)
        scores: IntScores = (cpu_fits | memory_fits).astype(np.int64)
        return scores


def _limits(pod: Object) -> ResourceList:
    """Return the sum of the containers' limits, or those of an init container where they are greater."""
    total: ResourceList = {}
    for row in pod["spec"].get("containers") or ():
        add(total, read((row.get("resources") or {}).get("limits")))
    for row in pod["spec"].get("initContainers") or ():
        raise_to(total, read((row.get("resources") or {}).get("limits")))
    return total


def _shape(rows: Sequence[Object]) -> Sequence[tuple[int, int]]:
    """Return a checked shape.

    Raises:
        UsageError: with the text of 1.15 for a value out of range or utilizations that do not rise.
    """
    points = [(int(row.get("utilization") or 0), int(row.get("score") or 0)) for row in rows]
    for index, ((one, _), (other, _)) in enumerate(pairwise(points)):
        if one >= other:
            at = f"Utilization[{index}]=={one} >= Utilization[{index + 1}]=={other}"
            raise UsageError(f"utilization values must be sorted. {at}")
    for index, (utilization, score) in enumerate(points):
        for name, value, most, must in (
            ("Utilization", utilization, 100, "utilization values must"),
            ("Score", score, BEST, "score values must"),
        ):
            if value < 0:
                raise UsageError(f"{must} not be less than 0. {name}[{index}]=={value}")
            if value > most:
                raise UsageError(f"{must} not be greater than {most}. {name}[{index}]=={value}")
    return points
