"""Taints keep pods off nodes, tolerations let them on.

Source: kubernetes component-helpers ``scheduling/corev1/helpers.go``, api ``core/v1/toleration.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
CLOUD_UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"

_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)", re.ASCII)


def tolerates(toleration: Object, taint: Object) -> bool:
    """Tell whether a toleration tolerates a taint; an empty key or effect fits all."""
    effect, key = toleration.get("effect"), toleration.get("key")
    if effect and effect != taint.get("effect"):
        return False
    if key and key != taint.get("key"):
        return False
    operator, value, tainted = toleration.get("operator"), toleration.get("value", ""), taint.get("value", "")
    if operator == "Exists":
        return True
    if operator in {"Gt", "Lt"}:
        return _compares(operator, value, tainted)
    return operator in {None, "", "Equal"} and value == tainted


def _compares(operator: str, value: str, tainted: str) -> bool:
    if not (_INTEGER.fullmatch(value) and _INTEGER.fullmatch(tainted)):
        return False
    bound, actual = parse_int(value), parse_int(tainted)
    if bound is None or actual is None:
        return False
    return actual > bound if operator == "Gt" else actual < bound


def is_tolerated(taint: Object, tolerations: Iterable[Object]) -> bool:
    """Tell whether any toleration tolerates the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(
    taints: Iterable[Object], tolerations: Sequence[Object], counts: Callable[[Object], bool] = lambda _taint: True
) -> Object | None:
    """Return the first taint, among those that count, which nothing tolerates; None when all are tolerated."""
    return next((taint for taint in taints if counts(taint) and not is_tolerated(taint, tolerations)), None)


def keeps_off(taint: Object) -> bool:
    """Tell whether a taint keeps new pods off the node (NoSchedule and NoExecute do)."""
    return taint.get("effect") in {NO_SCHEDULE, NO_EXECUTE}


def same_taint(one: Object, other: Object) -> bool:
    """Tell whether two taints have the same key and effect: a node has only one of these."""
    return one.get("key") == other.get("key") and one.get("effect") == other.get("effect")


def with_taint(taints: Sequence[Object], taint: Object) -> list[Object]:
    """Return the taints with that one added, or put in the place of its like."""
    if any(same_taint(old, taint) for old in taints):
        return [taint if same_taint(old, taint) else old for old in taints]
    return [*taints, taint]


def without_taint(taints: Sequence[Object], taint: Object) -> list[Object]:
    """Return the taints without that one's like."""
    return [old for old in taints if not same_taint(old, taint)]


def eviction_seconds(taints: Sequence[Object], tolerations: Sequence[Object]) -> float | None:
    """Return after how many seconds NoExecute taints evict a pod: 0 at once, None never."""
    evicting = [taint for taint in taints if taint.get("effect") == NO_EXECUTE]
    if not evicting:
        return None
    seconds: list[float] = []
    for taint in evicting:
        tolerating = [toleration for toleration in tolerations if tolerates(toleration, taint)]
        if not tolerating:
            return 0.0
        seconds += [
            max(0.0, float(toleration["tolerationSeconds"]))
            for toleration in tolerating
            if toleration.get("tolerationSeconds") is not None
        ]
    return min(seconds, default=None)
