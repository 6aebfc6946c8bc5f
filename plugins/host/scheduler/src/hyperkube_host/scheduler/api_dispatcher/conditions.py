"""The PodScheduled condition of a pod that has no node."""

from __future__ import annotations

from datetime import datetime

from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.machinery.objects import NodeName, Object


def unschedulable_patch(
    pod: Object, reason: str, message: str, now: datetime, nominated: NodeName | None = None
) -> Object | None:
    """Return a merge patch for the pod's status, or None when it says the same already.

    Args:
        pod: the pod as last seen.
        reason: ``Unschedulable`` or ``SchedulerError``; empty leaves the condition alone.
        message: why.
        now: the time of a change.
        nominated: the node where room is made for it, empty for none; None leaves an earlier nomination alone.
    """
    status = pod.get("status") or {}
    before = condition(status, "PodScheduled")
    change: Object = {}
    if reason and (before is None or (before.get("reason"), before.get("message")) != (reason, message)):
        row = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        change["conditions"] = with_condition(status.get("conditions") or [], row, now)
    if nominated is not None and (status.get("nominatedNodeName") or "") != nominated:
        change["nominatedNodeName"] = nominated or None
    return {"status": change} if change else None
