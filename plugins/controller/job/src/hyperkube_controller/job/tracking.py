"""The status of a job, in two steps: first it lists the pods that ended, then it counts them and declares the end.

Between the two the pods lose their finalizer. Whatever stops the controller in between, no pod is lost or counted
twice: the first status has announced the end and has the uids, the second moves those into the counters that have lost
the finalizer.
Source: kubernetes ``pkg/controller/job/job_controller.go`` (``trackJobStatusAndRemoveFinalizers``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from datetime import datetime
from typing import Any

from hyperkube_controller.job.decision import Decision
from hyperkube_controller.job.endings import Ending, is_complete
from hyperkube_controller.job.indexes import write_indexes
from hyperkube_controller.job.pods import is_indexed
from hyperkube_controller.job.sync_context import SyncContext, track_terminated_pods
from hyperkube_lib.pod_control import Outcome

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_ready
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.times import format_time

Event = tuple[str, str, str]
"""Type, reason, message."""


@dataclass(slots=True)
class Tracking:
    """The first of the two steps.

    Attributes:
        status: to be written before any pod loses its finalizer.
        release: the pods that may lose it then.
        complete: whether these are all that there are to release.
        ending: the end to which the job has come, or None.
        events: about the job.
        policy_actions: what the pod failure policy made of the failures that the status notes, one action each.
    """

    status: Object
    release: list[Object] = field(default_factory=list)
    complete: bool = True
    ending: Ending | None = None
    events: list[Event] = field(default_factory=list)
    policy_actions: list[str] = field(default_factory=list)


def track(decision: Decision, job: Object, outcome: Outcome, now: datetime) -> Tracking:
    """Return the first step, given what became of the pods that were to be created or deleted."""
    count, status = decision.count, dict(decision.status)
    deleted = {uid_of(pod) for pod in outcome.deleted}
    active = [pod for pod in count.active if uid_of(pod) not in deleted]
    tracking = Tracking(status, ending=decision.ending)
    if decision.ending is not None:
        if active or not decision.settled:
            tracking.ending = None  # pods run on, or are not seen yet: they could not be counted
    elif is_complete(job, count, len(active) + outcome.created):
        tracking.ending = Ending.completed()
    elif decision.managed:
        _suspend_or_resume(tracking, job, now)
    # Pods that were too many have lost the finalizer already, and count for nothing.
    withdrawn = deleted if decision.managed else set()
    tracking.release, tracking.complete = track_terminated_pods(
        job, count, tracking.ending.announcement if tracking.ending else "", withdrawn
    )
    tracking.policy_actions = count.policy_actions
    _write_counts(status, job, count)
    _write_number(status, "active", len(active) + outcome.created)
    status["ready"] = sum(is_ready(pod) for pod in active)
    status["terminating"] = len(count.terminating) + len(outcome.deleted)
    if tracking.ending is not None:
        ending = tracking.ending
        set_condition(status, ending.announcement, "True", (ending.reason, ending.message), now)
    return tracking


def _suspend_or_resume(tracking: Tracking, job: Object, now: datetime) -> None:
    """Say that the job is suspended or was resumed.

    Its time starts anew when it runs again, so that no deadline counts the pause. The start is taken off when it is
    suspended, since it may be changed only then.
    """
    if job["spec"].get("suspend"):
        tracking.status.pop("startTime", None)
        if set_condition(tracking.status, "Suspended", "True", ("JobSuspended", "Job suspended"), now):
            tracking.events.append(("Normal", "Suspended", "Job suspended"))
    elif set_condition(tracking.status, "Suspended", "False", ("JobResumed", "Job resumed"), now):
        tracking.events.append(("Normal", "Resumed", "Job resumed"))


def _write_counts(status: Object, job: Object, count: SyncContext) -> None:
    _write_number(status, "succeeded", count.counted_succeeded)
    _write_number(status, "failed", count.counted_failed)
    completed = write_indexes(count.completed) if is_indexed(job) else ""
    if completed:
        status["completedIndexes"] = completed
    else:
        status.pop("completedIndexes", None)
    if count.given_up is not None:
        status["failedIndexes"] = write_indexes(count.given_up)
    else:
        status.pop("failedIndexes", None)
    uncounted = {"succeeded": count.uncounted_succeeded, "failed": count.uncounted_failed}
    status["uncountedTerminatedPods"] = {key: uids for key, uids in uncounted.items() if uids}


def _write_number(status: Object, key: str, value: int) -> None:
    if value:
        status[key] = value
    else:
        status.pop(key, None)


def counted(status: Object, released: Collection[str]) -> Object:
    """Return the status with those of the uncounted pods in the counters that have lost their finalizer (uids)."""
    uncounted: dict[str, list[str]] = status.get("uncountedTerminatedPods") or {}
    left = {key: [uid for uid in uids if uid not in released] for key, uids in uncounted.items()}
    new: dict[str, Any] = {**status, "uncountedTerminatedPods": {key: uids for key, uids in left.items() if uids}}
    for key, uids in left.items():
        _write_number(new, key, new.get(key, 0) + len(uncounted[key]) - len(uids))
    return new


def finished(job: Object, tracking: Tracking, status: Object, now: datetime) -> tuple[Object, list[Event]]:
    """Return the status with the job complete or failed, and the events about it, once nothing is left to be counted.

    Args:
        job: the job.
        tracking: the first step.
        status: what `counted` made of its status.
        now: the time.
    """
    ending = tracking.ending
    if ending is None or not tracking.complete or status["uncountedTerminatedPods"] or status["terminating"]:
        return status, []
    new = dict(status)
    if job["spec"].get("completions") != 0:
        new.setdefault("startTime", format_time(now))  # a finished job has one, also if it was suspended
    set_condition(new, ending.end, "True", (ending.reason, ending.message), now)
    if ending.end == "Failed":
        return new, [("Warning", ending.reason, ending.message)]
    new["completionTime"] = format_time(now)
    events = [("Normal", "Completed", "Job completed")]
    completions = job["spec"].get("completions")
    if completions is not None and new.get("succeeded", 0) > completions:
        text = "Too many succeeded pods running after completion count reached"
        events.insert(0, ("Warning", "TooManySucceededPods", text))
    return new, events


def set_condition(status: Object, kind: str, state: str, said: tuple[str, str], now: datetime) -> bool:
    """Set a condition; one that changes in any way is stamped anew. Return whether it changed.

    One that was not there does not come as false.
    """
    reason, message = said
    new = {"type": kind, "status": state, "reason": reason, "message": message}
    conditions = list(status.get("conditions") or [])
    old = condition(status, kind)
    if old is None and state == "False":
        return False
    if old is not None and all(old.get(key, "") == value for key, value in new.items()):
        return False
    stamped = {**new, "lastProbeTime": format_time(now), "lastTransitionTime": format_time(now)}
    if old is None:
        conditions.append(stamped)
    else:
        conditions[conditions.index(old)] = stamped
    status["conditions"] = conditions
    return True
