"""Table rows of disruption budgets, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def pod_disruption_budget_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the budget and how many disruptions it allows now."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    low, high = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        cells.name(obj),
        "N/A" if low is None else str(low),
        "N/A" if high is None else str(high),
        status.get("disruptionsAllowed") or 0,
        cells.age(obj, now),
    ]
