"""Table rows of the scheduling group's kinds, as kubectl prints them.

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


def pod_group(obj: Object, now: datetime) -> list[Any]:
    """Return how its pods are scheduled, the workload that it is part of, and whether they were placed."""
    spec = obj.get("spec") or {}
    policy = "Gang" if (spec.get("schedulingPolicy") or {}).get("gang") is not None else "Basic"
    workload = ((spec.get("podGroupTemplateRef") or {}).get("workload") or {}).get("workloadName") or ""
    rows = (obj.get("status") or {}).get("conditions") or ()
    placed = next((row for row in rows if row["type"] == "PodGroupScheduled"), None)
    status = "Pending" if placed is None else "Scheduled" if placed["status"] == "True" else placed.get("reason", "")
    return [cells.name(obj), policy, workload, status, cells.age(obj, now)]


def workload(obj: Object, now: datetime) -> list[Any]:
    """Return name and age."""
    return [cells.name(obj), cells.age(obj, now)]
