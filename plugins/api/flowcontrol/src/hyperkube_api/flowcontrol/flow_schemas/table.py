"""Table rows of FlowSchemas, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def flow_schema_cells(obj: Object, now: datetime) -> list[Any]:
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
