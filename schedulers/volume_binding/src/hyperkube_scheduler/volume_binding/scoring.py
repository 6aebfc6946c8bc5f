"""How well a node's storage would be used: a broken line over the share that the pod's claims take.

Source: kubernetes ``pkg/scheduler/framework/plugins/volumebinding/scorer.go`` and ``volume_binding.go`` (Score).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from hyperkube_lib.scheduling.resource_scores import Shape
from hyperkube_scheduler.volume_binding.matching import size_of
from hyperkube_scheduler.volume_binding.plans import UNTOLD, Plan

from hyperkube.kinds.volumes import class_name

ROOMY_FIRST: Shape = ((0, 100), (100, 0))
"""The usual shape: nodes with more room are preferred."""


def shares_of(plan: Plan) -> dict[str, tuple[int, int]]:
    """Return class → (requested, capacity) in bytes: of the volumes that are there, or else of what can be made."""
    shares: dict[str, tuple[int, int]] = {}
    for claim, volume in plan.joined:
        requested, capacity = shares.get(class_name(volume), (0, 0))
        shares[class_name(volume)] = requested + size_of(claim), capacity + size_of(volume)
    if plan.joined:
        return shares
    for claim, amount in zip(plan.provisioned, plan.capacities, strict=True):
        if amount != UNTOLD:
            requested, _ = shares.get(class_name(claim), (0, 0))
            shares[class_name(claim)] = requested + size_of(claim), amount
    return shares


def score_of(shares: Mapping[str, tuple[int, int]], shape: Shape) -> int:
    """Return the mean of the classes' values, 0 to 100; 0 if there is no class."""
    values = [
        _line(requested * 100 // capacity if 0 < capacity >= requested else 100, shape)
        for requested, capacity in shares.values()
    ]
    return math.floor(sum(values) / len(values) + 0.5) if values else 0


def _line(used: int, shape: Shape) -> int:
    """Interpolate in integers that truncate towards zero, as Go's do."""
    if used <= shape[0][0]:
        return shape[0][1]
    for (left, low), (right, high) in pairwise(shape):
        if used < right:
            return low + int((high - low) * (used - left) / (right - left))
    return shape[-1][1]
