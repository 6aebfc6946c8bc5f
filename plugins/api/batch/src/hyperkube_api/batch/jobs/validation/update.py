"""Validation of an update of a Job.

Source: kubernetes pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_api.batch.jobs.labels import CONTROLLER_UID, JOB_NAME
from hyperkube_api.batch.jobs.validation.job import validate_job, validate_job_spec
from hyperkube_api.batch.jobs.validation.status import true_conditions
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, unchanged, unchanged_exactly

from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.objects import Object, copy_object, labels_of

_SPEC = ROOT.child("spec")
_FIXED = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_SHAPES = {
    "podFailurePolicy": "hyperkube_api.batch.v1:PodFailurePolicy",
    "successPolicy": "hyperkube_api.batch.v1:SuccessPolicy",
}


def validate_job_update(job: Object, old: Object, gates: Mapping[str, bool] | None = None) -> list[FieldError]:
    """Check an update of a job: all of it as on creation, what is specified once more, and what may not change."""
    spec, before = job["spec"], old["spec"]
    known = labels_of(before.get("template") or {})
    errors = validate_job(job, prefixed=JOB_NAME in known and CONTROLLER_UID in known)
    errors += validate_job_spec(_SPEC, spec)  # Kubernetes looks at it twice, too
    errors += _completions(spec, before)
    errors += unchanged(_SPEC.child("selector"), spec.get("selector"), before.get("selector"))
    errors += _template(job, old, gates or {})
    for member in _FIXED:
        errors += unchanged_exactly(_SPEC.child(member), _shown(member, spec), _shown(member, before))
    return errors


def _shown(member: str, spec: Object) -> Any:
    value, schema = spec.get(member), _SHAPES.get(member)
    return value if value is None or schema is None else go_shape(schema, value)


def _completions(spec: Object, before: Object) -> list[FieldError]:
    now, was = spec.get("completions"), before.get("completions")
    if now == was or (now is None and spec.get("completionMode") == "Indexed"):
        return []
    if spec.get("completionMode") != "Indexed":
        return [invalid(_SPEC.child("completions"), now, IMMUTABLE)]
    if now == spec.get("parallelism"):
        return []
    text = "can only be modified in tandem with spec.parallelism"
    return [invalid(_SPEC.child("completions"), now, text)]


def _template(job: Object, old: Object, gates: Mapping[str, bool]) -> list[FieldError]:
    now, before = copy_object(job["spec"].get("template") or {}), old["spec"].get("template") or {}
    path = _SPEC.child("template")
    if _is_suspended(old, widely=gates.get("MutableSchedulingDirectivesForSuspendedJobs", True)):
        _reset_mutable_directives(now, before)
    if gates.get("MutablePodResourcesForSuspendedJobs", True) and _is_suspended(old, widely=True):
        _reset_mutable_resources(now, before)
        if (now.get("spec") or {}) != (before.get("spec") or {}):
            shown = go_shape("hyperkube_api.core.v1:PodSpec", now.get("spec") or {})
            return [invalid(path.child("spec"), shown, IMMUTABLE)]
    if now == before:
        return []
    shown = go_shape("hyperkube_api.core.v1:PodTemplateSpec", now)
    return [invalid(path, shown, IMMUTABLE)]


def _is_suspended(old: Object, *, widely: bool) -> bool:
    """Return whether a job is suspended: never started, or (`widely`) stopped again without a pod left."""
    if not old["spec"].get("suspend"):
        return False
    status = old.get("status") or {}
    never_started = not status.get("startTime")
    if not widely:
        return never_started
    return not status.get("active") and (never_started or "Suspended" in true_conditions(status))


def _reset_mutable_resources(template: Object, old: Object) -> None:
    """Reset the resources of containers."""
    for member in ("containers", "initContainers"):
        now, before = ((each.get("spec") or {}).get(member) or [] for each in (template, old))
        if len(now) != len(before):
            continue
        for container, was in zip(now, before, strict=True):
            container.pop("resources", None)
            if was.get("resources") is not None:
                container["resources"] = was["resources"]


def _reset_mutable_directives(template: Object, old: Object) -> None:
    """Reset what may change while a job is suspended: the scheduling directives, labels and annotations of its pods."""
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
