"""Table rows of ResourceClaims, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def resource_claim_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the state of a claim."""
    status = cells.status_of(obj)
    states = []
    if obj["metadata"].get("deletionTimestamp"):
        states.append("deleted")
    if status.get("allocation") is None:
        if not states:
            states.append("pending")
    else:
        states.append("allocated")
        states.append("reserved" if status.get("reservedFor") else "")
    return [cells.name(obj), ",".join(filter(None, states)), cells.age(obj, now)]
