"""Table rows of priority classes, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def priority_class(obj: Object, now: datetime) -> list[Any]:
    """Return the priority and what it may preempt."""
    return [
        cells.name(obj),
        obj.get("value") or 0,
        bool(obj.get("globalDefault")),
        cells.age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]
