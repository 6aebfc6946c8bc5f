"""Quality of service: what a pod's requests and limits say about who goes first when a node runs short.

Source: kubernetes pkg/apis/core/v1/helper/qos/qos.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

_COMPUTE = ("cpu", "memory")


def qos_class(pod: Object) -> str:
    """Return ``Guaranteed``, ``Burstable`` or ``BestEffort`` for a pod."""
    spec = pod.get("spec") or {}
    whole = spec.get("resources")
    if whole and (whole.get("requests") or whole.get("limits")):
        return _judge([whole])
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return _judge([container.get("resources") or {} for container in containers])


def _judge(resources: list[Object]) -> str:
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    guaranteed = True
    for item in resources:
        _add(requests, item.get("requests"))
        limited = _add(limits, item.get("limits"))
        guaranteed = guaranteed and limited == set(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _add(totals: dict[str, Quantity], amounts: Object | None) -> set[str]:
    """Add the compute amounts above zero to the totals and return their names."""
    seen: set[str] = set()
    for name in _COMPUTE:
        text = (amounts or {}).get(name)
        if text is None:
            continue
        amount = parse(text)
        if amount.sign > 0:
            seen.add(name)
            totals[name] = totals[name] + amount if name in totals else amount
    return seen
