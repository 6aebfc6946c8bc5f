"""What may change in a job that exists, and what its controller may report.

Source: kubernetes pkg/apis/batch/validation (ValidateJobUpdate, ValidateJobUpdateStatus).
"""

from __future__ import annotations

from hyperkube_api.batch.validation.jobs import validate_job
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, counts, unchanged

from hyperkube.machinery.field import OMITTED, ROOT, FieldError, invalid, required
from hyperkube.machinery.objects import Object, copy_object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
_FIXED = ("selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def validate_job_update(job: Object, old: Object) -> list[FieldError]:
    """Check an update of a job."""
    spec, before = job["spec"], old["spec"]
    errors = validate_job(job)
    errors += _completions(spec, before)
    errors += unchanged(_SPEC.child("selector"), spec.get("selector"), before.get("selector"))
    errors += _template(job, old)
    for member in _FIXED[1:]:
        errors += unchanged(_SPEC.child(member), spec.get(member), before.get(member))
    return errors


def _completions(spec: Object, before: Object) -> list[FieldError]:
    now, was = spec.get("completions"), before.get("completions")
    if now == was:
        return []
    elastic = (
        spec.get("completionMode") == "Indexed"
        and now is not None
        and was is not None
        and now == spec.get("parallelism")
    )
    if elastic:
        return []
    if spec.get("completionMode") == "Indexed" and now is not None:
        text = "can only be modified in tandem with spec.parallelism"
        return [
            invalid(
                _SPEC.child("completions"),
                now,
                f"{text} (newCompletions={now}, newParallelism={spec.get('parallelism')})",
            )
        ]
    return [invalid(_SPEC.child("completions"), now, IMMUTABLE)]


def _template(job: Object, old: Object) -> list[FieldError]:
    now, before = copy_object(job["spec"].get("template") or {}), old["spec"].get("template") or {}
    if _is_suspended(old) and _never_started(old):
        _forgive(now, before)
    if now == before:
        return []
    shown = go_shape("hyperkube_api.core.v1:PodTemplateSpec", now)
    return [invalid(_SPEC.child("template"), shown, IMMUTABLE)]


def _is_suspended(job: Object) -> bool:
    return bool(job["spec"].get("suspend"))


def _never_started(job: Object) -> bool:
    return not (job.get("status") or {}).get("startTime")


def _forgive(template: Object, old: Object) -> None:
    """Set back what may change before the first start: where pods run, and what they are marked with."""
    meta, old_meta = template.setdefault("metadata", {}), old.get("metadata") or {}
    spec, old_spec = template.setdefault("spec", {}), old.get("spec") or {}
    for holder, before, members in (
        (meta, old_meta, ("annotations", "labels")),
        (spec, old_spec, ("nodeSelector", "tolerations", "schedulingGates")),
    ):
        for member in members:
            if before.get(member) is None:
                holder.pop(member, None)
            else:
                holder[member] = before[member]
    affinity, old_affinity = spec.get("affinity"), old_spec.get("affinity")
    rest = {key: value for key, value in (affinity or {}).items() if key != "nodeAffinity"}
    old_rest = {key: value for key, value in (old_affinity or {}).items() if key != "nodeAffinity"}
    if rest == old_rest:
        if old_affinity is None:
            spec.pop("affinity", None)
        else:
            spec["affinity"] = old_affinity


def validate_job_status_update(job: Object, old: Object) -> list[FieldError]:
    """Check what the job controller reports."""
    status, before = job.get("status") or {}, old.get("status") or {}
    errors = counts(_STATUS, status, *_COUNTS)
    active, ready = status.get("active") or 0, status.get("ready") or 0
    if ready > active:
        errors.append(invalid(_STATUS.child("ready"), ready, "more ready pods than active"))
    now, was = _true_conditions(status), _true_conditions(before)
    for kind in ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"):
        if kind in was and kind not in now:
            text = f"cannot disable {_ADJECTIVE[kind]} condition"
            errors.append(invalid(_STATUS.child("conditions"), status.get("conditions"), text))
    errors += _finished(status, now)
    for member in ("failed", "succeeded"):
        if (status.get(member) or 0) < (before.get(member) or 0):
            errors.append(invalid(_STATUS.child(member), status.get(member) or 0, f"cannot decrease {member}"))
    return errors


_ADJECTIVE = {
    "Complete": "the terminal Complete=True",
    "Failed": "the terminal Failed=True",
    "SuccessCriteriaMet": "the SuccessCriteriaMet=True",
    "FailureTarget": "the FailureTarget=True",
}


def _true_conditions(status: Object) -> set[str]:
    return {item.get("type") or "" for item in status.get("conditions") or () if item.get("status") == "True"}


def _finished(status: Object, now: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    at = _STATUS.child("conditions")
    done, ended = status.get("completionTime"), now & {"Complete", "Failed"}
    if "Complete" in now and done is None:
        errors.append(required(_STATUS.child("completionTime"), "completionTime is required for Complete jobs"))
    if done is not None and "Complete" not in now:
        text = "completionTime can only be set for completed jobs"
        errors.append(invalid(_STATUS.child("completionTime"), done, text))
    for kind, first in (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")):
        if kind in now and first not in now:
            text = f"cannot set {kind}=True condition without the {first}=true condition"
            errors.append(invalid(at, OMITTED, text))
    for pair in (("Complete", "Failed"), ("Complete", "FailureTarget"), ("Failed", "SuccessCriteriaMet")):
        if set(pair) <= now:
            text = f"cannot set {pair[0]}=True and {pair[1]}=true conditions"
            errors.append(invalid(at, OMITTED, text))
    if ended and (status.get("active") or 0) > 0:
        errors.append(invalid(_STATUS.child("active"), status["active"], "active>0 is invalid for finished job"))
    return errors
