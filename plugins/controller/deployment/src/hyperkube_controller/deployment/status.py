"""What a deployment says of itself: counts, and whether its rollout is available, progressing or stuck.

Source: kubernetes ``pkg/controller/deployment/progress.go`` and ``sync.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hyperkube_controller.deployment.facts import Observed, status_count, status_total

from hyperkube.kinds.conditions import condition, without_condition
from hyperkube.machinery.objects import Object, metadata, name_of
from hyperkube.machinery.times import format_time, parse_time

NEW_AVAILABLE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
CREATE_ERROR = "ReplicaSetCreateError"


def _set(conditions: list[Object], kind: str, status: str, reason: str, message: str, now: datetime) -> list[Object]:
    """Set a condition unless its status and reason are that already."""
    old = condition({"conditions": conditions}, kind)
    if old is not None and (old["status"], old.get("reason")) == (status, reason):
        return conditions
    since = old.get("lastTransitionTime") if old is not None and old["status"] == status else None
    new = {
        "type": kind,
        "status": status,
        "lastUpdateTime": format_time(now),
        "lastTransitionTime": since or format_time(now),
        "reason": reason,
        "message": message,
    }
    return [*without_condition(conditions, kind), new]


def calculate_counts(observed: Observed, new: Object | None) -> Object:
    """Return the numbers of the status."""
    everything = observed.replica_sets
    replicas = status_total(everything, "replicas")
    available = status_total(everything, "availableReplicas")
    old: Object = observed.deployment.get("status") or {}
    return {
        "observedGeneration": metadata(observed.deployment).get("generation"),
        "replicas": replicas or None,
        "updatedReplicas": status_count(new, "replicas") or None,
        "readyReplicas": status_total(everything, "readyReplicas") or None,
        "availableReplicas": available or None,
        "unavailableReplicas": max(0, sum((rs.get("spec") or {}).get("replicas", 1) for rs in everything) - available)
        or None,
        "terminatingReplicas": _terminating(observed),
        "collisionCount": old.get("collisionCount"),
    }


def _terminating(observed: Observed) -> int | None:
    """Return how many pods are being deleted; None while a replica set does not say, or where that is not shown."""
    if not observed.shows_terminating:
        return None
    statuses = [rs.get("status") or {} for rs in observed.replica_sets]
    if any("terminatingReplicas" not in status for status in statuses):
        return None
    return sum(int(status["terminatingReplicas"]) for status in statuses)


def status_of(observed: Observed, *, made: Object | None = None, frozen: bool = False) -> Object:
    """Return the status.

    Args:
        observed: what is known.
        made: the replica set that is being created by the same decision.
        frozen: paused or only scaling: neither the progress nor the failures of replica sets are judged.
    """
    new = observed.new
    status: dict[str, Any] = calculate_counts(observed, new)
    now = observed.now
    conditions: list[Object] = list((observed.deployment.get("status") or {}).get("conditions") or [])
    conditions = _available(observed, status, conditions)
    if observed.deadline is not None:
        conditions = _check_paused_conditions(observed, conditions)
        found = condition({"conditions": conditions}, "Progressing")
        if made is not None:
            message = f'Created new replica set "{name_of(made)}"'
            conditions = _set(conditions, "Progressing", "True", "NewReplicaSetCreated", message, now)
        elif new is not None and found is None:
            message = f'Found new replica set "{name_of(new)}"'
            conditions = _set(conditions, "Progressing", "True", "FoundNewReplicaSet", message, now)
        if not frozen and made is None:
            conditions = _progress(observed, new, status, conditions)
    elif not frozen:
        conditions = without_condition(conditions, "Progressing")
    if not frozen:
        conditions = _replica_failures(observed, new, conditions, now)
    return {**status, "conditions": conditions}


def _available(observed: Observed, status: Object, conditions: list[Object]) -> list[Object]:
    _, unavailable = observed.resolve_fenceposts()
    if (status["availableReplicas"] or 0) >= observed.wanted - unavailable:
        text = "Deployment has minimum availability."
        return _set(conditions, "Available", "True", "MinimumReplicasAvailable", text, observed.now)
    text = "Deployment does not have minimum availability."
    return _set(conditions, "Available", "False", "MinimumReplicasUnavailable", text, observed.now)


def _check_paused_conditions(observed: Observed, conditions: list[Object]) -> list[Object]:
    found = condition({"conditions": conditions}, "Progressing")
    if found is not None and found.get("reason") == TIMED_OUT:
        return conditions
    was_paused = found is not None and found.get("reason") == "DeploymentPaused"
    if observed.is_paused and not was_paused:
        text = "Deployment is paused"
        return _set(conditions, "Progressing", "Unknown", "DeploymentPaused", text, observed.now)
    if not observed.is_paused and was_paused:
        text = "Deployment is resumed"
        return _set(conditions, "Progressing", "Unknown", "DeploymentResumed", text, observed.now)
    return conditions


def deployment_complete(observed: Observed, status: Object) -> bool:
    """Tell whether all pods are of the new template, available, and no others are left."""
    wanted = observed.wanted
    return (
        (status["updatedReplicas"] or 0) == wanted
        and (status["replicas"] or 0) == wanted
        and (status["availableReplicas"] or 0) == wanted
    )


def _deployment_progressing(observed: Observed, status: Object) -> bool:
    before: Object = observed.deployment.get("status") or {}

    def change(key: str) -> int:
        return int((status[key] or 0) - before.get(key, 0))

    fewer_old = change("replicas") - change("updatedReplicas") < 0
    return change("updatedReplicas") > 0 or fewer_old or change("readyReplicas") > 0 or change("availableReplicas") > 0


def progress_deadline(observed: Observed, conditions: list[Object]) -> datetime | None:
    """Return when the rollout counts as stuck, or None when it has ended or has no deadline."""
    found = condition({"conditions": conditions}, "Progressing")
    if found is None or observed.deadline is None or found.get("reason") in {NEW_AVAILABLE, TIMED_OUT}:
        return None
    return parse_time(found["lastUpdateTime"]) + timedelta(seconds=observed.deadline)


def _progress(observed: Observed, new: Object | None, status: Object, conditions: list[Object]) -> list[Object]:
    found = condition({"conditions": conditions}, "Progressing")
    rolled_out = (status["replicas"] or 0) == (status["updatedReplicas"] or 0)
    if rolled_out and found is not None and found.get("reason") == NEW_AVAILABLE:
        return conditions
    about = f'ReplicaSet "{name_of(new)}"' if new is not None else f'Deployment "{name_of(observed.deployment)}"'
    now = observed.now
    if deployment_complete(observed, status):
        return _set(conditions, "Progressing", "True", NEW_AVAILABLE, f"{about} has successfully progressed.", now)
    if _deployment_progressing(observed, status):
        moved = without_condition(conditions, "Progressing")
        since = found["lastTransitionTime"] if found is not None and found["status"] == "True" else format_time(now)
        fresh = _set(moved, "Progressing", "True", "ReplicaSetUpdated", f"{about} is progressing.", now)
        return [*fresh[:-1], {**fresh[-1], "lastTransitionTime": since}]
    due = progress_deadline(observed, conditions)
    if due is not None and now > due:
        return _set(conditions, "Progressing", "False", TIMED_OUT, f"{about} has timed out progressing.", now)
    return conditions


def with_create_error(observed: Observed, made: Object, error: Exception) -> tuple[Object, str]:
    """Return the status after the creation of a replica set has failed, and the text that tells of it."""
    status: Object = dict(observed.deployment.get("status") or {})
    text = f'Failed to create new replica set "{name_of(made)}": {error}'
    if observed.deadline is not None:
        conditions = list(status.get("conditions") or [])
        status["conditions"] = _set(conditions, "Progressing", "False", CREATE_ERROR, text, observed.now)
    return status, text


def _replica_failures(observed: Observed, new: Object | None, conditions: list[Object], now: datetime) -> list[Object]:
    """Show the new replica set's failure to create or delete pods, else that of an old one."""
    for rs in ([new] if new is not None else []) + observed.old:
        failed = condition(rs.get("status") or {}, "ReplicaFailure")
        if failed is not None:
            reason, message = failed.get("reason", ""), failed.get("message", "")
            return _set(conditions, "ReplicaFailure", failed["status"], reason, message, now)
    return without_condition(conditions, "ReplicaFailure")
