"""Table rows of priority and fairness, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def flow_schema(obj: Object, now: datetime) -> list[Any]:
    """Return the priority level and the precedence."""
    spec = cells.spec_of(obj)
    missing = next(
        (
            item.get("status") or ""
            for item in cells.status_of(obj).get("conditions") or ()
            if item.get("type") == "Dangling"
        ),
        "?",
    )
    return [
        cells.name(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        spec.get("matchingPrecedence") or 0,
        (spec.get("distinguisherMethod") or {}).get("type") or cells.NONE,
        cells.age(obj, now),
        missing,
    ]


def flow_schema_order(obj: Object) -> tuple[int, str]:
    """Return what flow schemas are sorted by: those that match first come first."""
    return cells.spec_of(obj).get("matchingPrecedence") or 0, cells.name(obj)


def priority_level_configuration(obj: Object, now: datetime) -> list[Any]:
    """Return the shares and the queues of a level that has limits."""
    spec = cells.spec_of(obj)
    limited = spec.get("limited")
    shares: Any = cells.NONE
    queues: list[Any] = [cells.NONE] * 3
    if limited is not None:
        shares = limited.get("nominalConcurrencyShares") or 0
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            queues = [queuing.get(member) or 0 for member in ("queues", "handSize", "queueLengthLimit")]
    return [cells.name(obj), spec.get("type") or "", shares, *queues, cells.age(obj, now)]
