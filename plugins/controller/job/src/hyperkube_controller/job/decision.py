"""What a job needs next: more pods, fewer pods, or its end.

Source: kubernetes ``pkg/controller/job/job_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from hyperkube_controller.job.indexes import index_of, write_indexes
from hyperkube_controller.job.tally import Tally, finished_at, has_failed, has_succeeded, is_indexed, tally

from hyperkube.kinds.conditions import is_true, with_condition
from hyperkube.kinds.workloads import deletion_order
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.objects import Object, is_being_deleted
from hyperkube.machinery.times import format_time, parse_time

BACKOFF = Backoff(initial=10.0, cap=600.0)
BURST = 500
COMPLETED = ("CompletionsReached", "Reached expected number of succeeded pods")
TOO_MANY = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
TOO_LONG = ("DeadlineExceeded", "Job was active longer than specified deadline")


@dataclass(slots=True)
class Decision:
    """What to do about a job.

    Attributes:
        status: the status to write.
        create: for each pod to create its index, or None for a job without indexes.
        delete: pods to delete.
        release: pods to take the finalizer off, after the status was written.
        events: (type, reason, message) about the job.
        again: seconds after which to look again, or None.
    """

    status: Object
    create: list[int | None] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    release: list[Object] = field(default_factory=list)
    events: list[tuple[str, str, str]] = field(default_factory=list)
    again: float | None = None


def is_finished(job: Object) -> bool:
    """Tell whether the job has its Complete or Failed condition."""
    status = job.get("status") or {}
    return is_true(status, "Complete") or is_true(status, "Failed")


def decide(job: Object, pods: Sequence[Object], now: datetime) -> Decision:
    """Return what the job needs, given all the pods it controls."""
    count = tally(job, pods)
    status: dict[str, Any] = dict(job.get("status") or {})
    if is_finished(job):
        return Decision(status, release=count.to_release, delete=_living(count))
    decision = Decision(status, release=count.to_release)
    spec = job.get("spec") or {}
    suspended = bool(spec.get("suspend"))
    if not suspended and not status.get("startTime"):
        status["startTime"] = format_time(now)
    ending = _ending(job, count, pods, status, now)
    if ending is not None:
        _end(decision, count, ending, now)
    elif suspended:
        _suspend(decision, count, now)
    else:
        _resume(decision, now)
        if not is_being_deleted(job):
            _staff(decision, job, count, pods, now)
    _write_counts(job, decision, count)
    return decision


def _living(count: Tally) -> list[Object]:
    return [pod for pod in count.active if not is_being_deleted(pod)]


def _ending(
    job: Object, count: Tally, pods: Sequence[Object], status: Object, now: datetime
) -> tuple[str, str, str] | None:
    """Return (condition, reason, message) when the job has come to its end."""
    spec = job.get("spec") or {}
    if is_true(status, "FailureTarget"):
        found = next(entry for entry in status["conditions"] if entry["type"] == "FailureTarget")
        return "Failed", found.get("reason", ""), found.get("message", "")
    if count.failed > spec.get("backoffLimit", 6) or _restarts(job, pods) > spec.get("backoffLimit", 6):
        return "Failed", *TOO_MANY
    deadline = spec.get("activeDeadlineSeconds")
    started = status.get("startTime")
    if deadline is not None and started and now >= parse_time(started) + timedelta(seconds=deadline):
        return "Failed", *TOO_LONG
    if is_true(status, "SuccessCriteriaMet"):
        return "Complete", *COMPLETED
    completions = spec.get("completions")
    some = count.succeeded > 0 and not count.active
    enough = some if completions is None else count.succeeded >= completions
    return ("Complete", *COMPLETED) if enough else None


def _restarts(job: Object, pods: Sequence[Object]) -> int:
    """Return how often containers of pods that restart in place were restarted."""
    template = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    if template.get("restartPolicy") != "OnFailure":
        return 0
    return sum(
        container.get("restartCount", 0)
        for pod in pods
        if (pod.get("status") or {}).get("phase") in {"Pending", "Running"}
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in (pod.get("status") or {}).get(kind) or []
    )


def _end(decision: Decision, count: Tally, ending: tuple[str, str, str], now: datetime) -> None:
    """Announce the end, delete what still runs, and declare the end once nothing does and all is counted."""
    kind, reason, message = ending
    decision.delete = _living(count)
    first = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
    conditions = decision.status.get("conditions") or []
    said = {"status": "True", "reason": reason, "message": message}
    conditions = with_condition(conditions, {"type": first, **said}, now)
    waiting = count.active or count.terminating or count.noted_succeeded or count.noted_failed
    if not waiting:
        conditions = with_condition(conditions, {"type": kind, **said}, now)
        if kind == "Complete":
            decision.status["completionTime"] = format_time(now)
            decision.events.append(("Normal", "Completed", "Job completed"))
        else:
            decision.events.append(("Warning", reason, message))
    stamped = [{"lastProbeTime": entry["lastTransitionTime"], **entry} for entry in conditions]
    decision.status["conditions"] = stamped


def _suspend(decision: Decision, count: Tally, now: datetime) -> None:
    decision.delete = _living(count)
    decision.status.pop("startTime", None)
    said = {"type": "Suspended", "status": "True", "reason": "JobSuspended", "message": "Job suspended"}
    if not is_true(decision.status, "Suspended"):
        decision.events.append(("Normal", "Suspended", "Job suspended"))
    decision.status["conditions"] = with_condition(decision.status.get("conditions") or [], said, now)


def _resume(decision: Decision, now: datetime) -> None:
    if is_true(decision.status, "Suspended"):
        said = {"type": "Suspended", "status": "False", "reason": "JobResumed", "message": "Job resumed"}
        decision.status["conditions"] = with_condition(decision.status["conditions"], said, now)
        decision.events.append(("Normal", "Resumed", "Job resumed"))


def _staff(decision: Decision, job: Object, count: Tally, pods: Sequence[Object], now: datetime) -> None:
    """Bring the number of active pods to what parallelism and the missing completions ask for."""
    spec = job.get("spec") or {}
    parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
    if completions is None:
        wanted = len(count.active) if count.succeeded else parallelism
        wanted = min(wanted, parallelism)
    else:
        wanted = min(parallelism, completions - count.succeeded)
    if is_indexed(job):
        _drop_doubles(decision, count, spec.get("completions") or 0)
    active = [pod for pod in count.active if pod not in decision.delete]
    if len(active) > wanted:
        decision.delete += deletion_order(active, active, now)[: len(active) - wanted]
    missing = min(max(0, wanted - len(active)), BURST)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        due = parse_time(decision.status["startTime"]) + timedelta(seconds=deadline)
        decision.again = max(0.0, (due - now).total_seconds())
    if not missing:
        return
    pause = _pause(pods, now)
    if pause > 0:
        decision.again = pause if decision.again is None else min(pause, decision.again)
    elif is_indexed(job):
        taken = count.completed | {index_of(pod) for pod in active}
        free = (index for index in range(spec.get("completions") or 0) if index not in taken)
        decision.create = [index for _, index in zip(range(missing), free, strict=False)]
    else:
        decision.create = [None] * missing


def _drop_doubles(decision: Decision, count: Tally, completions: int) -> None:
    """Delete pods whose index is done, taken by another one, or out of range."""
    seen: set[int] = set(count.completed)
    for pod in count.active:
        index = index_of(pod)
        if index is None or index >= completions or index in seen:
            decision.delete.append(pod)
        else:
            seen.add(index)


def _pause(pods: Sequence[Object], now: datetime) -> float:
    """Return the seconds to wait before the next pod: 10 s, doubled with each failure since the last success."""
    ended = sorted(
        (pod for pod in pods if has_succeeded(pod) or has_failed(pod)), key=lambda pod: finished_at(pod, now)
    )
    failures = 0
    for pod in reversed(ended):
        if has_succeeded(pod):
            break
        failures += 1
    if not failures:
        return 0.0
    since = (now - finished_at(ended[-1], now)).total_seconds()
    return max(0.0, BACKOFF.delay(failures) - since)


def _write_counts(job: Object, decision: Decision, count: Tally) -> None:
    status = decision.status
    active = [pod for pod in count.active if pod not in decision.delete]
    noted = {"succeeded": count.noted_succeeded, "failed": count.noted_failed}
    counts: dict[str, Any] = {
        "active": len(active) + len(decision.create),
        "succeeded": count.counted_succeeded,
        "failed": count.counted_failed,
        "completedIndexes": write_indexes(count.completed) if is_indexed(job) else "",
    }
    for key, value in counts.items():
        if value:
            status[key] = value
        else:
            status.pop(key, None)
    status["ready"] = count.ready
    status["terminating"] = count.terminating
    status["uncountedTerminatedPods"] = {key: uids for key, uids in noted.items() if uids}
