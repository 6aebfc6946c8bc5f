"""What a job needs next: more pods, fewer pods, or its end.

Source: kubernetes ``pkg/controller/job/job_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from hyperkube_controller.job.backoff import NO_FAILURES, BackoffRecord
from hyperkube_controller.job.endings import Ending, ending_of, is_complete
from hyperkube_controller.job.indexes import write_indexes
from hyperkube_controller.job.manage_job import excess_pods, missing_pods
from hyperkube_controller.job.pods import is_indexed, is_tracked
from hyperkube_controller.job.sync_context import SyncContext, sync_context_of, track_terminated_pods

from hyperkube.kinds.conditions import condition, is_true
from hyperkube.kinds.pods import is_ready
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted, uid_of
from hyperkube.machinery.times import format_time, parse_time


@dataclass(frozen=True, slots=True)
class NewPod:
    """A pod to create.

    Attributes:
        index: its completion index, or None for a job without indexes.
        replaced: the failed pod of its index whose failures it inherits.
    """

    index: int | None = None
    replaced: Object | None = None


@dataclass(slots=True)
class Decision:
    """What to do about a job, in this order: write the status, release pods, delete pods, create pods.

    Attributes:
        status: the status to write.
        create: pods to create.
        delete: pods to delete.
        release: pods to take the finalizer off, after the status was written.
        events: (type, reason, message) about the job.
        again: seconds after which to look again, or None.
        backoff: the failures to remember once the status was written.
        policy_actions: what the pod failure policy made of the failures that this status notes, one action each.
    """

    status: Object
    create: list[NewPod] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    release: list[Object] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)
    again: float | None = None
    backoff: BackoffRecord = NO_FAILURES
    policy_actions: list[str] = field(default_factory=list)

    def look_again(self, seconds: float) -> None:
        """Look again after so many seconds, or earlier where that is asked for."""
        self.again = seconds if self.again is None else min(seconds, self.again)


def is_finished(job: Object) -> bool:
    """Tell whether the job has its Complete or Failed condition."""
    status = job.get("status") or {}
    return is_true(status, "Complete") or is_true(status, "Failed")


def decide(job: Object, pods: Sequence[Object], now: datetime, backoff: BackoffRecord = NO_FAILURES) -> Decision:
    """Return what the job needs, given all the pods it controls and its failures up to now."""
    status: dict[str, Any] = dict(job.get("status") or {})
    if is_finished(job):
        return Decision(status, release=[pod for pod in pods if is_tracked(pod)])
    count = sync_context_of(job, pods)
    decision = Decision(status, backoff=backoff.with_finished(count.new_succeeded, count.new_failed))
    suspended = bool(job["spec"].get("suspend"))
    if not suspended and not status.get("startTime"):
        status["startTime"] = format_time(now)
    ending = ending_of(job, status, count, now)
    if ending is not None:
        decision.delete = list(count.active)
    else:
        _manage(decision, job, count, now)
        if is_complete(job, count, len(count.active) - len(decision.delete) + len(decision.create)):
            ending = Ending.completed()
        elif suspended:
            _suspend(decision, now)
        else:
            _resume(decision, now)
            _await_deadline(decision, job, now)
    _count(decision, job, count, ending, now)
    return decision


def _manage(decision: Decision, job: Object, count: SyncContext, now: datetime) -> None:
    """Delete the pods that are too many, which do not count as failed then, or else create those that are missing."""
    if is_being_deleted(job):
        return
    decision.delete = excess_pods(job, count, now)
    if decision.delete:
        decision.release = [pod for pod in decision.delete if is_tracked(pod)]
        return
    indexes, wait = missing_pods(job, count, decision.backoff, now)
    decision.create = [NewPod(index, count.delayed.get(index) if index is not None else None) for index in indexes]
    if wait:
        decision.look_again(wait)


def _await_deadline(decision: Decision, job: Object, now: datetime) -> None:
    deadline = job["spec"].get("activeDeadlineSeconds")
    if deadline is not None:
        due = parse_time(decision.status["startTime"]) + timedelta(seconds=deadline)
        decision.look_again(max(0.0, (due - now).total_seconds()))


def _suspend(decision: Decision, now: datetime) -> None:
    """Say that the job is suspended; its time starts anew when it runs again, so that no deadline counts the pause.

    The start is taken off now, since it may be changed only while the job is suspended.
    """
    decision.status.pop("startTime", None)
    if _set_condition(decision, "Suspended", "True", ("JobSuspended", "Job suspended"), now):
        decision.events.append(("Normal", "Suspended", "Job suspended"))


def _resume(decision: Decision, now: datetime) -> None:
    if condition(decision.status, "Suspended") is None:
        return
    if _set_condition(decision, "Suspended", "False", ("JobResumed", "Job resumed"), now):
        decision.events.append(("Normal", "Resumed", "Job resumed"))


def _set_condition(decision: Decision, kind: str, state: str, said: tuple[str, str], now: datetime) -> bool:
    """Set a condition; one that changes in any way is stamped anew. Return whether it changed."""
    reason, message = said
    new = {"type": kind, "status": state, "reason": reason, "message": message}
    conditions = list(decision.status.get("conditions") or [])
    old = condition(decision.status, kind)
    if old is not None and all(old.get(key, "") == value for key, value in new.items()):
        return False
    stamped = {**new, "lastProbeTime": format_time(now), "lastTransitionTime": format_time(now)}
    if old is None:
        conditions.append(stamped)
    else:
        conditions[conditions.index(old)] = stamped
    decision.status["conditions"] = conditions
    return True


def _count(decision: Decision, job: Object, count: SyncContext, ending: Ending | None, now: datetime) -> None:
    """Note and release the pods that ended, announce the end, and declare it once nothing is left to be counted."""
    deleted = {uid_of(pod) for pod in decision.delete}
    active = [pod for pod in count.active if uid_of(pod) not in deleted]
    withdrawn = {uid_of(pod) for pod in decision.release}
    release, all_noted = track_terminated_pods(job, count, ending.announcement if ending else "")
    decision.policy_actions = count.policy_actions
    decision.release += [pod for pod in release if uid_of(pod) not in withdrawn]
    terminating = len(count.terminating) + len(decision.delete)
    if ending is not None:
        _set_condition(decision, ending.announcement, "True", (ending.reason, ending.message), now)
        waiting = active or terminating or decision.release or count.uncounted_succeeded or count.uncounted_failed
        if all_noted and not waiting:
            _finish(decision, job, count, ending, now)
    indexed = is_indexed(job)
    counts: dict[str, Any] = {
        "active": len(active) + len(decision.create),
        "succeeded": count.counted_succeeded,
        "failed": count.counted_failed,
        "completedIndexes": write_indexes(count.completed) if indexed else "",
    }
    for key, value in counts.items():
        if value:
            decision.status[key] = value
        else:
            decision.status.pop(key, None)
    if count.given_up is not None:
        decision.status["failedIndexes"] = write_indexes(count.given_up)
    else:
        decision.status.pop("failedIndexes", None)
    decision.status["ready"] = sum(is_ready(pod) for pod in active)
    decision.status["terminating"] = terminating
    uncounted = {"succeeded": count.uncounted_succeeded, "failed": count.uncounted_failed}
    decision.status["uncountedTerminatedPods"] = {key: uids for key, uids in uncounted.items() if uids}


def _finish(decision: Decision, job: Object, count: SyncContext, ending: Ending, now: datetime) -> None:
    """Declare the job complete or failed."""
    if job["spec"].get("completions") != 0:
        decision.status.setdefault("startTime", format_time(now))  # a finished job has one, also if it was suspended
    _set_condition(decision, ending.end, "True", (ending.reason, ending.message), now)
    if ending.end == "Failed":
        decision.events.append(("Warning", ending.reason, ending.message))
        return
    decision.status["completionTime"] = format_time(now)
    completions = job["spec"].get("completions")
    if completions is not None and count.counted_succeeded > completions:
        text = "Too many succeeded pods running after completion count reached"
        decision.events.append(("Warning", "TooManySucceededPods", text))
    decision.events.append(("Normal", "Completed", "Job completed"))
