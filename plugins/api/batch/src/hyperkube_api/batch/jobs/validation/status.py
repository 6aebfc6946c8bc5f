"""Validation of what the controller of a Job reports.

Most rules are about what a report changes, so that other parts of a status that is already wrong can be repaired.
Source: kubernetes pkg/apis/batch/validation (ValidateJobUpdateStatus), pkg/registry/batch/job/strategy.go.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_api.batch.jobs.validation.success_policy import IndexesUnreadable, count_indexes, overlap
from hyperkube_api.meta.validation import counts

from hyperkube.machinery.field import OMITTED, ROOT, FieldError, Path, duplicate, invalid, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import parse_time

_STATUS = ROOT.child("status")
_CONDITIONS = _STATUS.child("conditions")
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_ENDS = frozenset({"Complete", "Failed"})


def true_conditions(status: Object) -> set[str]:
    """Return the types of the conditions that hold."""
    return {item.get("type") or "" for item in status.get("conditions") or () if item.get("status") == "True"}


def validate_job_status_update(job: Object, old: Object) -> list[FieldError]:
    """Check what the job controller reports."""
    status, before = job.get("status") or {}, old.get("status") or {}
    now, was = true_conditions(status), true_conditions(before)

    def turned(*kinds: str) -> bool:
        return any((kind in now) != (kind in was) for kind in kinds)

    def changed(*members: str) -> bool:
        return any((status.get(member) or None) != (before.get(member) or None) for member in members)

    ended = bool(now & _ENDS) != bool(was & _ENDS)
    errors = counts(_STATUS, status, *_COUNTS) + _uncounted(status.get("uncountedTerminatedPods"))
    errors += _completion(status, now, turned, changed)
    if now & _ENDS:
        errors += _finished(status, lambda *members: ended or changed(*members))
    errors += _indexes(job, changed)
    terminating, ready = status.get("terminating") or 0, status.get("ready") or 0
    if terminating > 0 and now & _ENDS and (ended or changed("terminating")):
        text = "terminating>0 is invalid for finished job"
        errors.append(invalid(_STATUS.child("terminating"), terminating, text))
    if ready > (status.get("active") or 0) and changed("ready", "active"):
        errors.append(invalid(_STATUS.child("ready"), ready, "cannot set more ready pods than active"))
    errors += _met(job, now)
    return errors + _steps(job, before, now, was)


def _uncounted(pods: Object | None) -> list[FieldError]:
    path, seen, errors = _STATUS.child("uncountedTerminatedPods"), set[str](), list[FieldError]()
    for member in ("succeeded", "failed"):
        for index, uid in enumerate((pods or {}).get(member) or ()):
            at = path.child(member).index(index)
            if not uid:
                errors.append(invalid(at, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(at, uid))
            seen.add(uid)
    return errors


def _completion(
    status: Object, now: set[str], turned: Callable[..., bool], changed: Callable[..., bool]
) -> list[FieldError]:
    """Check that the conditions go together, and the times with them."""
    done, started, at = status.get("completionTime"), status.get("startTime"), _STATUS.child("completionTime")
    complete = "Complete" in now
    errors = [
        _wrong(f"cannot set Complete=True and {other}=true conditions")
        for other in ("Failed", "FailureTarget")
        if {"Complete", other} <= now and turned("Complete", other)
    ]
    if turned("Complete") or changed("completionTime"):
        if done is not None and not complete:
            text = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid(at, done, text))
        if done is None and complete:
            errors.append(required(at, "completionTime is required for Complete jobs"))
    if changed("startTime", "completionTime") and started and done and parse_time(done) < parse_time(started):
        errors.append(invalid(at, done, "completionTime cannot be set before startTime"))
    for kind, first in (("Failed", "FailureTarget"), ("Complete", "SuccessCriteriaMet")):
        if kind in now and first not in now and turned(kind, first):
            errors.append(_wrong(f"cannot set {kind}=True condition without the {first}=true condition"))
    return errors


def _finished(status: Object, asked: Callable[..., bool]) -> list[FieldError]:
    """Check that a finished job has no active pods."""
    errors: list[FieldError] = []
    if (status.get("active") or 0) > 0 and asked("active"):
        errors.append(invalid(_STATUS.child("active"), status["active"], "active>0 is invalid for finished job"))
    if status.get("startTime") is None and asked("startTime"):
        errors.append(required(_STATUS.child("startTime"), "startTime is required for finished job"))
    pods = status.get("uncountedTerminatedPods") or {}
    if (pods.get("succeeded") or pods.get("failed")) and asked("uncountedTerminatedPods"):
        shown = {"Succeeded": pods.get("succeeded") or None, "Failed": pods.get("failed") or None}
        text = "uncountedTerminatedPods needs to be empty for finished job"
        errors.append(invalid(_STATUS.child("uncountedTerminatedPods"), shown, text))
    return errors


def _indexes(job: Object, changed: Callable[..., bool]) -> list[FieldError]:
    """Check the texts that name indexes."""
    spec, status = job["spec"], job.get("status") or {}
    completions, per_index = spec.get("completions"), spec.get("backoffLimitPerIndex")
    completed, failed = status.get("completedIndexes") or "", status.get("failedIndexes")
    at, failed_at, errors = _STATUS.child("completedIndexes"), _STATUS.child("failedIndexes"), list[FieldError]()
    if changed("completedIndexes") and completions is not None:
        errors += _unreadable(at, "completedIndexes", completed, completions)
    if changed("failedIndexes") and None not in (completions, per_index, failed):
        errors += _unreadable(failed_at, "failedIndexes", str(failed), completions)
    if changed("completedIndexes") and completed and spec.get("completionMode") != "Indexed":
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid(at, completed, text))
    if changed("failedIndexes") and per_index is None and failed is not None:
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(invalid(failed_at, failed, text))
    if changed("failedIndexes", "completedIndexes") and completions is not None and failed is not None:
        both = overlap(completed, failed, completions)
        if both is not None:
            errors.append(invalid(failed_at, failed, f"failedIndexes and completedIndexes overlap at index: {both}"))
    return errors


def _unreadable(path: Path, member: str, text: str, completions: int) -> list[FieldError]:
    try:
        count_indexes(text, completions)
    except IndexesUnreadable as error:
        return [invalid(path, text, f"error parsing {member}: {error}")]
    return []


def _met(job: Object, now: set[str]) -> list[FieldError]:
    """Check that a job does not both meet its success criteria and fail."""
    errors = [
        _wrong(f"cannot set SuccessCriteriaMet=True and {other}=true conditions")
        for other in ("Failed", "FailureTarget")
        if {"SuccessCriteriaMet", other} <= now
    ]
    if job["spec"].get("successPolicy") is not None and "Complete" in now and "SuccessCriteriaMet" not in now:
        errors.append(_wrong("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"))
    return errors


def _steps(job: Object, before: Object, now: set[str], was: set[str]) -> list[FieldError]:
    """Check that conditions and times are not taken back."""
    spec, status = job["spec"], job.get("status") or {}
    errors = [
        _wrong(f"cannot disable the terminal {kind}=True condition")
        for kind in ("Failed", "Complete", "FailureTarget")
        if kind in was and kind not in now
    ]
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for member in ("failed",) if elastic else ("failed", "succeeded"):
        count = status.get(member) or 0
        if count < (before.get(member) or 0):
            errors.append(invalid(_STATUS.child(member), count, f"cannot decrease the {member} counter"))
    done, was_done = status.get("completionTime"), before.get("completionTime")
    if done is not None and was_done is not None and done != was_done:
        errors.append(invalid(_STATUS.child("completionTime"), done, "completionTime cannot be mutated"))
    started = before.get("startTime")
    if started is not None and started != status.get("startTime") and not spec.get("suspend"):
        errors.append(required(_STATUS.child("startTime"), "startTime cannot be removed for unsuspended job"))
    if "SuccessCriteriaMet" in was - now:
        errors.append(_wrong("cannot disable the SuccessCriteriaMet=True condition"))
    if "Complete" in was and "SuccessCriteriaMet" in now - was:
        text = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        errors.append(_wrong(text))
    return errors


def _wrong(text: str) -> FieldError:
    return invalid(_CONDITIONS, OMITTED, text)
