"""What a PodGroup's status says about its scheduling: the condition ``PodGroupScheduled``.

Source of type, reasons and rules: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (updatePodGroupCondition) and
``pkg/apis/scheduling`` (1.36).
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.kinds.conditions import with_condition
from hyperkube.machinery.objects import Object

SCHEDULED_TYPE = "PodGroupScheduled"
SCHEDULED, UNSCHEDULABLE, ERROR = "Scheduled", "Unschedulable", "SchedulerError"
"""Reasons; only the first comes with status True."""


def group_patch(group: Object, reason: str, message: str, now: datetime) -> Object | None:
    """Return a merge patch of a PodGroup's status that says what came of an attempt, None if it says so already.

    A group that was scheduled once stays so: more of its pods may come and find no place.
    """
    status = "True" if reason == SCHEDULED else "False"
    rows: list[Object] = list((group.get("status") or {}).get("conditions") or ())
    before = next((row for row in rows if row.get("type") == SCHEDULED_TYPE), {})
    if before.get("status") == "True" and status != "True":
        return None
    generation = group.get("metadata", {}).get("generation", 0)
    said = {"status": status, "reason": reason, "message": message, "observedGeneration": generation}
    if all(before.get(name, 0 if name == "observedGeneration" else "") == value for name, value in said.items()):
        return None
    return {"status": {"conditions": with_condition(rows, {"type": SCHEDULED_TYPE, **said}, now)}}
