"""What the containers of a pod request or are limited to, together.

Source: kubernetes staging/src/k8s.io/component-helpers/resource/helpers.go (AggregateContainerRequests).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse


def aggregate(spec: Object, member: str) -> dict[str, str]:
    """Return what the containers need at any one time: the sum of those that stay, or the largest init step."""
    stay: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add(stay, (container.get("resources") or {}).get(member))
    before: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        amounts = (container.get("resources") or {}).get(member)
        step = dict(before)
        _add(step, amounts)
        if container.get("restartPolicy") == "Always":
            _add(before, amounts)
        for name, amount in step.items():
            peak[name] = max(peak.get(name, amount), amount)
    for name, amount in before.items():
        stay[name] = stay[name] + amount if name in stay else amount
    for name, amount in peak.items():
        stay[name] = max(stay.get(name, amount), amount)
    return {name: str(amount) for name, amount in stay.items()}


def _add(totals: dict[str, Quantity], amounts: Object | None) -> None:
    for name, text in (amounts or {}).items():
        amount = parse(text)
        totals[name] = totals[name] + amount if name in totals else amount
