"""Scores by how full nodes would be: least allocated, most allocated, or any broken line.

Source: kubernetes ``pkg/scheduler/framework/plugins/noderesources/`` (least_allocated.go, most_allocated.go,
requested_to_capacity_ratio.go, resource_allocation.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores

CPU_AND_MEMORY: Mapping[str, int] = {"cpu": 1, "memory": 1}
BASE = ("cpu", "memory", "ephemeral-storage")
Shape = Sequence[tuple[int, int]]
"""Points (utilization in percent, score 0 to 100) by rising utilization."""


def weights_of(
    rows: Sequence[Object] | None, path: str = "resources", greatest: int | None = MAX_SCORE
) -> Mapping[str, int]:
    """Return resource → weight of a ``resources`` list; cpu and memory alike if there is none.

    A weight that is 0 or left out is 1; a resource that is named twice has the sum.

    Raises:
        UsageError: a weight below 1 or above `greatest`.
    """
    weights: dict[str, int] = {}
    for index, row in enumerate(rows or ()):
        name, weight = row["name"], int(row.get("weight") or 1)
        if weight < 1 or (greatest is not None and weight > greatest):
            limits = "[1, inf)" if greatest is None else f"(0, {greatest}]"
            said = f"resource weight of {name} not in valid range {limits}"
            raise UsageError(f"{path}[{index}].weight: Invalid value: {weight}: {said}")
        weights[name] = weights.get(name, 0) + weight
    return CPU_AND_MEMORY if not weights or weights == CPU_AND_MEMORY else weights


def ratio_settings(arguments: Object) -> dict[str, Any]:
    """Return the settings ``shape`` and ``resources`` of a 1.x policy's ``requestedToCapacityRatioArguments``."""
    return {
        "shape": arguments.get("shape") or arguments.get("utilizationShape") or [],
        "resources": arguments.get("resources") or [],
    }


def shape_of(rows: Sequence[Object] | None, path: str = "shape") -> Shape:
    """Return a checked ``shape``: scores from 0 to 10 become 0 to 100.

    Raises:
        UsageError: no point, a value out of range, or utilizations that do not rise.
    """
    points = [(int(row.get("utilization") or 0), int(row.get("score") or 0)) for row in rows or ()]
    if not points:
        raise UsageError(f"{path}: Required value: at least one point must be specified")
    for index, (one, other) in enumerate(pairwise(points), 1):
        if one[0] >= other[0]:
            said = "values must be sorted in increasing order"
            raise UsageError(f"{path}[{index}].utilization: Invalid value: {other[0]}: {said}")
    for index, (utilization, score) in enumerate(points):
        for name, value, most in (("utilization", utilization, 100), ("score", score, 10)):
            if not 0 <= value <= most:
                raise UsageError(f"{path}[{index}].{name}: Invalid value: {value}: not in valid range [0, {most}]")
    return [(utilization, score * MAX_SCORE // 10) for utilization, score in points]


def least(pod: PodInfo, nodes: NodeTable, weights: Mapping[str, int]) -> IntScores:
    """Return the weighted mean of the free shares, 0 (full) to `MAX_SCORE` (empty)."""
    return _mean(pod, nodes, weights, lambda asked, has: np.maximum(has - asked, 0) * MAX_SCORE // np.maximum(has, 1))


def most(pod: PodInfo, nodes: NodeTable, weights: Mapping[str, int]) -> IntScores:
    """Return the weighted mean of the used shares, 0 (empty) to `MAX_SCORE` (full, or more than there is)."""
    return _mean(pod, nodes, weights, lambda asked, has: np.minimum(asked, has) * MAX_SCORE // np.maximum(has, 1))


def by_shape(pod: PodInfo, nodes: NodeTable, weights: Mapping[str, int], shape: Shape) -> IntScores:
    """Return the weighted mean of a broken line's values; resources that score nothing do not count."""
    total = np.zeros(len(nodes), dtype=np.int64)
    divisor = np.zeros(len(nodes), dtype=np.int64)
    for _, weight, asked, has in _resources(pod, nodes, weights):
        used = np.where(asked > has, 100, asked * 100 // np.maximum(has, 1))
        scores = np.where(has > 0, _line(used, shape), 0)
        total += scores * weight
        divisor += np.where(scores > 0, weight, 0)
    mean = total / np.maximum(divisor, 1)
    return np.floor(mean + 0.5).astype(np.int64)


def _line(used: NDArray[np.int64], shape: Shape) -> NDArray[np.int64]:
    """Interpolate in integers that truncate towards zero, as Go's do."""
    scores = np.full(used.shape, shape[-1][1], dtype=np.int64)
    for (left, low), (right, high) in reversed(list(pairwise(shape))):
        step = np.trunc((high - low) * (used - left) / (right - left)).astype(np.int64)
        scores = np.where(used < right, low + step, scores)
    return np.where(used <= shape[0][0], shape[0][1], scores)


def _mean(
    pod: PodInfo,
    nodes: NodeTable,
    weights: Mapping[str, int],
    score: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]],
) -> IntScores:
    if weights is CPU_AND_MEMORY:
        has = nodes.allocatable[:2]
        if np.count_nonzero(has) == has.size:
            both = score(nodes.non_zero_requested + pod.non_zero_requests, has)
            halved: IntScores = (both[0] + both[1]) // 2
            return halved
    total = np.zeros(len(nodes), dtype=np.int64)
    divisor = np.zeros(len(nodes), dtype=np.int64)
    for _, weight, asked, has in _resources(pod, nodes, weights):
        there = has > 0
        shares = score(asked, has)
        total += np.where(there, shares if weight == 1 else shares * weight, 0)
        divisor += np.where(there, weight, 0)
    mean: IntScores = total // np.maximum(divisor, 1)
    return mean


def _resources(
    pod: PodInfo, nodes: NodeTable, weights: Mapping[str, int]
) -> list[tuple[str, int, NDArray[np.int64], NDArray[np.int64]]]:
    """Return (name, weight, requested once the pod is there, allocatable); extended ones only if asked for.

    The number of pods is none of the resources that are scored.
    """
    rows = []
    for name, weight in weights.items():
        if name not in nodes.resources or name == "pods":
            continue
        row = nodes.resources.index(name)
        wanted = int(pod.requests[row, 0]) if row < len(pod.requests) else 0
        if not wanted and name not in BASE:
            continue
        assumed = row < len(CPU_AND_MEMORY)
        there = nodes.non_zero_requested if assumed else nodes.requested
        more = int(pod.non_zero_requests[row, 0]) if assumed else wanted
        asked = there[row] + more
        rows.append((name, weight, asked, nodes.allocatable[row]))
    return rows
