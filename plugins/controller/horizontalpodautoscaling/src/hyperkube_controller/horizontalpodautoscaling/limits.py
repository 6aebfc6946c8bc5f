"""How fast an autoscaler may go: recommendations are stabilized over a window, and changes have rates and bounds.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (normalizeDesiredReplicasWithBehaviors).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperkube.machinery.objects import Object

UP: Object = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
DOWN: Object = {
    "stabilizationWindowSeconds": 300,
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
}
LONGEST = 3600.0


@dataclass(slots=True)
class History:
    """What an autoscaler lately recommended and did: (monotonic seconds, replicas) and (seconds, change)."""

    recommended: list[tuple[float, int]] = field(default_factory=list)
    changed: list[tuple[float, int]] = field(default_factory=list)

    def forget_before(self, moment: float) -> None:
        """Drop what no window reaches any more."""
        self.recommended = [row for row in self.recommended if row[0] >= moment]
        self.changed = [row for row in self.changed if row[0] >= moment]


@dataclass(frozen=True, slots=True)
class Bounded:
    """The replicas to have, and the conditions (type, status, reason, message) that say how that came."""

    replicas: int
    conditions: tuple[tuple[str, str, str, str], ...]


def rules_of(spec: Object) -> tuple[Object, Object]:
    """Return the rules upwards and downwards."""
    behavior = spec.get("behavior") or {}
    return {**UP, **_given(behavior.get("scaleUp"))}, {**DOWN, **_given(behavior.get("scaleDown"))}


def _given(rules: Object | None) -> Object:
    return {key: value for key, value in (rules or {}).items() if value is not None}


def bound(spec: Object, current: int, desired: int, history: History, now: float) -> Bounded:
    """Return what becomes of a recommendation; it is noted in the history first by the caller."""
    up, down = rules_of(spec)
    steady = _stabilized(current, desired, history.recommended, (up, down), now)
    if steady != desired:
        able = ("ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest")
        if steady < desired:
            able = ("ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest")
        able = (able[0], f"{able[1]} recent recommendation")
    else:
        able = ("ReadyForNewScale", "recommended size matches current size")
    replicas, limited = _rated(spec, current, steady, history.changed, (up, down), now)
    status = "False" if limited[0] == "DesiredWithinRange" else "True"
    return Bounded(replicas, (("AbleToScale", "True", *able), ("ScalingLimited", status, *limited)))


def _stabilized(
    current: int, desired: int, recommended: Sequence[tuple[float, int]], rules: tuple[Object, Object], now: float
) -> int:
    up, down = (rule["stabilizationWindowSeconds"] for rule in rules)
    lowest = min([desired, *(count for moment, count in recommended if moment > now - up)])
    highest = max([desired, *(count for moment, count in recommended if moment > now - down)])
    return min(max(current, lowest), highest)


def _rated(
    spec: Object,
    current: int,
    desired: int,
    changed: Sequence[tuple[float, int]],
    rules: tuple[Object, Object],
    now: float,
) -> tuple[int, tuple[str, str]]:
    least, most = spec.get("minReplicas") or 1, spec["maxReplicas"]
    if desired > current:
        allowed = max(current, _up_limit(current, rules[0], changed, now))
        if desired > min(allowed, most):
            if allowed < most:
                return allowed, (
                    "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate",
                )  # fmt: skip
            return most, ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
    elif desired < current:
        allowed = min(current, _down_limit(current, rules[1], changed, now))
        if desired < max(allowed, least):
            if allowed > least:
                return allowed, (
                    "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate",
                )  # fmt: skip
            return least, ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
    return desired, ("DesiredWithinRange", "the desired count is within the acceptable range")


def _start(current: int, changed: Sequence[tuple[float, int]], since: float) -> int:
    """Return how many there were at the beginning of a period."""
    return current - sum(change for moment, change in changed if moment > since)


def _up_limit(current: int, rules: Object, changed: Sequence[tuple[float, int]], now: float) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits: list[int] = []
    for policy in rules["policies"]:
        begin = _start(current, changed, now - policy["periodSeconds"])
        share = math.ceil(round(begin * (1 + policy["value"] / 100), 9))
        limits.append(begin + policy["value"] if policy["type"] == "Pods" else share)
    return min(limits) if rules["selectPolicy"] == "Min" else max(limits)


def _down_limit(current: int, rules: Object, changed: Sequence[tuple[float, int]], now: float) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits: list[int] = []
    for policy in rules["policies"]:
        begin = _start(current, changed, now - policy["periodSeconds"])
        share = int(round(begin * (1 - policy["value"] / 100), 9))
        limits.append(begin - policy["value"] if policy["type"] == "Pods" else share)
    return max(limits) if rules["selectPolicy"] == "Min" else min(limits)
