"""Table rows of PriorityLevelConfigurations, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def priority_level_configuration_cells(obj: Object, now: datetime) -> list[Any]:
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
