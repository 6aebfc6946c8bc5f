"""Table rows of devices and claims, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def device_class(obj: Object, now: datetime) -> list[Any]:
    """Return the age."""
    return [cells.name(obj), cells.age(obj, now)]


resource_claim_template = device_class


def resource_claim(obj: Object, now: datetime) -> list[Any]:
    """Return how far a claim is."""
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


def resource_slice(obj: Object, now: datetime) -> list[Any]:
    """Return whose devices these are."""
    spec = cells.spec_of(obj)
    pool = (spec.get("pool") or {}).get("name") or ""
    return [cells.name(obj), spec.get("nodeName") or "", spec.get("driver") or "", pool, cells.age(obj, now)]
