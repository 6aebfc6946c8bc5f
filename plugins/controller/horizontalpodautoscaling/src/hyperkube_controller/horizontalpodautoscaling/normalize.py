"""How fast an autoscaler may go: recommendations are stabilized over a window, and changes have rates and bounds.

Source: kubernetes ``pkg/controller/podautoscaler/horizontal.go`` (normalizeDesiredReplicas,
normalizeDesiredReplicasWithBehaviors).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field

from hyperkube.machinery.dataclass import dataclass
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
_RATE_UP = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_RATE_DOWN = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_MOST = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_LEAST = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_HIGHEST = "recent recommendations were higher than current one, applying the highest recent recommendation"
_LOWEST = "recent recommendations were lower than current one, applying the lowest recent recommendation"
_READY = ("ReadyForNewScale", "recommended size matches current size")


@dataclass(slots=True)
class History:
    """What an autoscaler lately recommended and did: (monotonic seconds, replicas) and (seconds, change)."""

    recommended: list[tuple[float, int]] = field(default_factory=list)
    changed: list[tuple[float, int]] = field(default_factory=list)

    def begin(self, moment: float, replicas: int) -> None:
        """Take what the target has as the first recommendation: a controller that has just started knows no other."""
        if not self.recommended:
            self.recommended.append((moment, replicas))

    def forget_before(self, moment: float) -> None:
        """Drop what no window reaches any more."""
        self.recommended = [row for row in self.recommended if row[0] >= moment]
        self.changed = [row for row in self.changed if row[0] >= moment]


@dataclass(frozen=True, slots=True)
class Normalized:
    """The replicas to have, and the conditions (type, status, reason, message) that say how that came."""

    replicas: int
    conditions: tuple[tuple[str, str, str, str], ...]


def rules_of(spec: Object, stabilization: float) -> tuple[Object, Object]:
    """Return the rules upwards and downwards; `stabilization` is the window downwards of those that set none."""
    behavior = spec.get("behavior") or {}
    down = {**DOWN, "stabilizationWindowSeconds": stabilization}
    return {**UP, **_given(behavior.get("scaleUp"))}, {**down, **_given(behavior.get("scaleDown"))}


def _given(rules: Object | None) -> Object:
    return {key: value for key, value in (rules or {}).items() if value is not None}


def normalize_desired_replicas(
    spec: Object, current: int, desired: int, history: History, now: float, stabilization: float = 300.0
) -> Normalized:
    """Return what becomes of a recommendation, and note it in the history.

    Args:
        spec: the autoscaler's.
        current: the replicas that the target is to have.
        desired: what its metrics ask for.
        history: what was recommended and done lately.
        now: monotonic seconds.
        stabilization: for how many seconds fewer replicas must have been recommended, unless the spec says.
    """
    if spec.get("behavior") is None:
        steady, able = _stabilize_downwards(desired, history, now - stabilization)
        replicas, limited = _limit_by_rules(spec, current, steady)
    else:
        up, down = rules_of(spec, stabilization)
        steady, able = _stabilize_recommendation(current, desired, history, (up, down), now)
        replicas, limited = _limit_by_behavior(spec, current, steady, history.changed, (up, down), now)
    history.recommended.append((now, desired))
    status = "False" if replicas == steady else "True"
    return Normalized(replicas, (("AbleToScale", "True", *able), ("ScalingLimited", status, *limited)))


def _stabilize_downwards(desired: int, history: History, since: float) -> tuple[int, tuple[str, str]]:
    """Return the highest recommendation of late: without a behavior only going down has a window."""
    highest = max([desired, *(count for moment, count in history.recommended if moment >= since)])
    return highest, _READY if highest == desired else ("ScaleDownStabilized", _HIGHEST)


def _limit_by_rules(spec: Object, current: int, desired: int) -> tuple[int, tuple[str, str]]:
    """Return the replicas between the bounds of the spec, and no more than twice as many as there are, or four."""
    least, most = _bounds(spec)
    fastest = max(2 * current, 4)
    if desired < least:
        return least, _LEAST
    if desired > min(fastest, most):
        return (fastest, _RATE_UP) if fastest < most else (most, _MOST)
    return desired, _WITHIN


def _bounds(spec: Object) -> tuple[int, int]:
    least = spec.get("minReplicas")
    return 1 if least is None else least, spec["maxReplicas"]


def _stabilize_recommendation(
    current: int, desired: int, history: History, rules: tuple[Object, Object], now: float
) -> tuple[int, tuple[str, str]]:
    """Return what is nearest to the present replicas of all that was recommended in the windows up and down."""
    up, down = (rule["stabilizationWindowSeconds"] for rule in rules)
    lowest = min([desired, *(count for moment, count in history.recommended if moment > now - up)])
    highest = max([desired, *(count for moment, count in history.recommended if moment > now - down)])
    steady = min(max(current, lowest), highest)
    if steady == desired:
        return steady, _READY
    return steady, ("ScaleUpStabilized", _LOWEST) if desired >= current else ("ScaleDownStabilized", _HIGHEST)


def _limit_by_behavior(
    spec: Object,
    current: int,
    desired: int,
    changed: Sequence[tuple[float, int]],
    rules: tuple[Object, Object],
    now: float,
) -> tuple[int, tuple[str, str]]:
    """Return the replicas that the policies and the bounds of the spec allow."""
    least, most = _bounds(spec)
    if desired > current:
        fastest = max(current, _up_limit(current, rules[0], changed, now))
        if desired > min(fastest, most):
            return (fastest, _RATE_UP) if fastest < most else (most, _MOST)
    elif desired < current:
        fastest = min(current, _down_limit(current, rules[1], changed, now))
        if desired < max(fastest, least):
            return (fastest, _RATE_DOWN) if fastest > least else (least, _LEAST)
    return desired, _WITHIN


def _start(current: int, changed: Sequence[tuple[float, int]], since: float) -> int:
    """Return how many there were at the beginning of a period."""
    return current - sum(change for moment, change in changed if moment > since)


def _up_limit(current: int, rules: Object, changed: Sequence[tuple[float, int]], now: float) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits: list[int] = []
    for policy in rules["policies"]:
        begin = _start(current, changed, now - policy["periodSeconds"])
        share = math.ceil(begin * (1 + policy["value"] / 100))
        limits.append(begin + policy["value"] if policy["type"] == "Pods" else share)
    return min(limits) if rules["selectPolicy"] == "Min" else max(limits)


def _down_limit(current: int, rules: Object, changed: Sequence[tuple[float, int]], now: float) -> int:
    if rules["selectPolicy"] == "Disabled":
        return current
    limits: list[int] = []
    for policy in rules["policies"]:
        begin = _start(current, changed, now - policy["periodSeconds"])
        share = int(begin * (1 - policy["value"] / 100))
        limits.append(begin - policy["value"] if policy["type"] == "Pods" else share)
    return max(limits) if rules["selectPolicy"] == "Min" else min(limits)
