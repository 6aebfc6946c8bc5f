"""Devices that are made ready once a node is chosen: what their drivers say of them.

Source: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`` (isClaimReadyForBinding).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.times import parse_time

LOOK_SECONDS = 5.0
"""At most between two looks at devices that are waited for; news of a claim cause one at once."""


def failure_of(claim: Object) -> str:
    """Return how a device of an allocated claim failed to get ready, or the empty string."""
    for row in _rows(claim):
        conditions = _conditions(claim, row)
        for kind in row.get("bindingFailureConditions") or ():
            found = conditions.get(kind)
            if found is not None and found.get("status") == "True":
                said = f'reason={found.get("reason", "")}, message="{found.get("message", "")}"'
                return f"claim {name_of(claim)} binding failed: {said}"
    return ""


def is_ready(claim: Object) -> bool:
    """Tell whether all devices of an allocated claim are ready, or need not be made so."""
    for row in _rows(claim):
        conditions = _conditions(claim, row)
        for kind in row.get("bindingConditions") or ():
            if (conditions.get(kind) or {}).get("status") != "True":
                return False
    return True


def has_conditions(claim: Object) -> bool:
    """Tell whether a claim has devices that must get ready."""
    return any(True for _ in _rows(claim))


def is_late(claim: Object, now: datetime, seconds: float) -> bool:
    """Tell whether devices that must get ready have had as long as they may take."""
    allocated = ((claim.get("status") or {}).get("allocation") or {}).get("allocationTimestamp")
    if not allocated or not has_conditions(claim):
        return False
    return (now - parse_time(str(allocated))).total_seconds() > seconds


def _rows(claim: Object) -> Iterable[Object]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for row in (allocation.get("devices") or {}).get("results") or ():
        if row.get("bindingConditions"):
            yield row


def _conditions(claim: Object, row: Object) -> dict[str, Object]:
    for each in (claim.get("status") or {}).get("devices") or ():
        if all(each.get(part) == row.get(part) for part in ("driver", "pool", "device")):
            return {str(condition["type"]): condition for condition in each.get("conditions") or ()}
    return {}
