"""What a job needs next: more pods, fewer pods, or its end.

Source: kubernetes ``pkg/controller/job/job_controller.go`` (``syncJob``, ``manageJob``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from hyperkube_controller.job.backoff import NO_FAILURES, BackoffRecord
from hyperkube_controller.job.endings import Ending, ending_of
from hyperkube_controller.job.manage_job import excess_pods, missing_pods
from hyperkube_controller.job.sync_context import SyncContext, sync_context_of

from hyperkube.kinds.conditions import is_true
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted
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
    """What to do about the pods of a job; its status is written afterwards, by what became of that.

    Attributes:
        status: the job's, with its start.
        count: what its pods amount to.
        settled: whether the cache shows all that was done to the pods before.
        create: pods to create.
        delete: pods to delete. When the job ends they keep their finalizer until they are counted; the ones that are
            merely too many lose it first, and do not count as failed.
        ending: the end to which the job has come, or None.
        managed: whether the number of its pods was seen to, as it is in each sync of a job that runs or is suspended.
        again: seconds after which to look again, or None.
        backoff: the failures to remember once the status was written.
    """

    status: Object
    count: SyncContext
    settled: bool = True
    create: list[NewPod] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    ending: Ending | None = None
    managed: bool = False
    again: float | None = None
    backoff: BackoffRecord = NO_FAILURES

    def look_again(self, seconds: float) -> None:
        """Look again after so many seconds, or earlier where that is asked for."""
        self.again = seconds if self.again is None else min(seconds, self.again)


def is_finished(job: Object) -> bool:
    """Tell whether the job has its Complete or Failed condition."""
    status = job.get("status") or {}
    return is_true(status, "Complete") or is_true(status, "Failed")


def decide(
    job: Object, pods: Sequence[Object], now: datetime, backoff: BackoffRecord = NO_FAILURES, *, settled: bool = True
) -> Decision:
    """Return what a job that has not finished needs, given all the pods it controls and its failures up to now.

    Args:
        job: the job.
        pods: those that it controls.
        now: the time.
        backoff: the failures since the last success.
        settled: whether the cache shows all that was done to the pods before. While it does not, pods are neither
            created nor found to be too many; those that ended are counted all the same.
    """
    status: dict[str, Any] = dict(job.get("status") or {})
    suspended = bool(job["spec"].get("suspend"))
    if not suspended and not status.get("startTime"):
        status["startTime"] = format_time(now)
    count = sync_context_of(job, pods)
    decision = Decision(status, count, settled, backoff=backoff.with_finished(count.new_succeeded, count.new_failed))
    decision.ending = ending_of(job, status, count, now)
    if decision.ending is not None:
        decision.delete = list(count.active)
        return decision
    if settled and not is_being_deleted(job):
        _manage(decision, job, now)
    deadline = job["spec"].get("activeDeadlineSeconds")
    if deadline is not None and not suspended:
        due = parse_time(status["startTime"]) + timedelta(seconds=deadline)
        decision.look_again(max(0.0, (due - now).total_seconds()))
    return decision


def _manage(decision: Decision, job: Object, now: datetime) -> None:
    """Delete the pods that are too many, or else create those that are missing: never both in one sync."""
    count = decision.count
    decision.managed = True
    decision.delete = excess_pods(job, count, now)
    if decision.delete:
        return
    indexes, wait = missing_pods(job, count, decision.backoff, now)
    decision.create = [NewPod(index, count.delayed.get(index) if index is not None else None) for index in indexes]
    if wait:
        decision.look_again(wait)
