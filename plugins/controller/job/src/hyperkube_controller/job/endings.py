"""How a job ends: complete or failed, and why.

The end is announced first (``SuccessCriteriaMet``, ``FailureTarget``), which decides it once and for all, and declared
(``Complete``, ``Failed``) when all pods are gone and counted.
Source: kubernetes ``pkg/controller/job/job_controller.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from hyperkube_controller.job.pod_failure_policy import fail_job_message
from hyperkube_controller.job.pods import has_failed, is_indexed, restarts
from hyperkube_controller.job.success_policy import match_success_policy
from hyperkube_controller.job.sync_context import SyncContext

from hyperkube.kinds.conditions import condition
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import parse_time

_FAILURE, _SUCCESS = "FailureTarget", "SuccessCriteriaMet"
_DEFAULT_BACKOFF_LIMIT = 6


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a job.

    Attributes:
        announcement: the condition that comes first.
        reason: that of both conditions.
        message: that of both conditions.
    """

    announcement: str
    reason: str
    message: str

    @property
    def end(self) -> str:
        """The condition that declares the end."""
        return "Failed" if self.announcement == _FAILURE else "Complete"

    @classmethod
    def completed(cls) -> Ending:
        """Return the end of a job that has all its completions."""
        return cls(_SUCCESS, "CompletionsReached", "Reached expected number of succeeded pods")


def ending_of(job: Object, status: Object, count: SyncContext, now: datetime) -> Ending | None:
    """Return the end to which the job has come: the one that was announced, or else what its limits and policies say.

    Args:
        job: the job.
        status: its status, with ``startTime`` where it runs.
        count: what its pods amount to.
        now: the time.
    """
    for kind in (_SUCCESS, _FAILURE):
        announced = condition(status, kind)
        if announced is not None and announced.get("status") == "True":
            return Ending(kind, announced.get("reason", ""), announced.get("message", ""))
    message = fail_job_message(job, (pod for pod in count.pods if has_failed(pod, job)))
    if message:
        return Ending(_FAILURE, "PodFailurePolicy", message)
    if _is_past_backoff_limit(job, count):
        return Ending(_FAILURE, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    if _is_past_deadline(job, status, now):
        return Ending(_FAILURE, "DeadlineExceeded", "Job was active longer than specified deadline")
    return _ending_by_indexes(job, count) if is_indexed(job) else None


def _ending_by_indexes(job: Object, count: SyncContext) -> Ending | None:
    limit, completions = job["spec"].get("maxFailedIndexes"), job["spec"].get("completions") or 0
    failed = len(count.given_up or ())
    if limit is not None and failed > limit:
        text = "Job has exceeded the specified maximal number of failed indexes"
        return Ending(_FAILURE, "MaxFailedIndexesExceeded", text)
    if failed and failed + len(count.completed) >= completions:
        return Ending(_FAILURE, "FailedIndexes", "Job has failed indexes")
    message = match_success_policy(job, count.completed)
    return Ending(_SUCCESS, "SuccessPolicy", message) if message else None


def is_complete(job: Object, count: SyncContext, active: int) -> bool:
    """Tell whether the job has all its completions, and no pod is active any more.

    Without a number of completions one success is enough, once the pods beside it have ended.
    """
    completions = job["spec"].get("completions")
    wanted = 1 if completions is None else completions
    return not active and count.succeeded >= wanted


def _is_past_backoff_limit(job: Object, count: SyncContext) -> bool:
    """Tell whether too many pods failed, or their containers were restarted in place too often."""
    limit = job["spec"].get("backoffLimit", _DEFAULT_BACKOFF_LIMIT)
    if count.failed > limit:
        return True
    template = (job["spec"].get("template") or {}).get("spec") or {}
    return template.get("restartPolicy") == "OnFailure" and restarts(count.pods) >= max(1, limit)


def _is_past_deadline(job: Object, status: Object, now: datetime) -> bool:
    deadline, started = job["spec"].get("activeDeadlineSeconds"), status.get("startTime")
    if deadline is None or not started or job["spec"].get("suspend"):
        return False
    return now >= parse_time(started) + timedelta(seconds=deadline)
