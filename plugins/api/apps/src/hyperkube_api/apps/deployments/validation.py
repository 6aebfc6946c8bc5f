"""Validation of Deployments.

Source: kubernetes pkg/apis/apps/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import check_collision_count, check_selector, check_template, is_zero, strategy_shape
from hyperkube_api.meta.validation import at_most_all, counts, int_or_percent, unchanged

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def validate_deployment(obj: Object) -> list[FieldError]:
    """Check a deployment."""
    spec = obj["spec"]
    errors = counts(_SPEC, spec, "replicas")
    wrong, selector = check_selector(_SPEC.child("selector"), spec, "deployment")
    errors += wrong
    errors += check_template(spec, selector)
    errors += _strategy(_SPEC.child("strategy"), spec.get("strategy") or {})
    errors += counts(_SPEC, spec, "minReadySeconds", "revisionHistoryLimit")
    deadline, ready = spec.get("progressDeadlineSeconds"), spec.get("minReadySeconds") or 0
    if deadline is not None:
        errors += counts(_SPEC, spec, "progressDeadlineSeconds")
        if deadline <= ready:
            text = "must be greater than minReadySeconds"
            errors.append(invalid(_SPEC.child("progressDeadlineSeconds"), deadline, text))
    return errors


def _strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            text = "may not be specified when strategy `type` is 'Recreate'"
            return [forbidden(path.child("rollingUpdate"), text)]
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, strategy_shape("DeploymentStrategy", strategy), ("Recreate", "RollingUpdate"))]
    at = path.child("rollingUpdate")
    if rolling is None:
        return [required(at, "this should be defaulted and never be nil")]
    errors = int_or_percent(at.child("maxUnavailable"), rolling.get("maxUnavailable"))
    errors += int_or_percent(at.child("maxSurge"), rolling.get("maxSurge"))
    if is_zero(rolling.get("maxUnavailable")) and is_zero(rolling.get("maxSurge")):
        text = "may not be 0 when `maxSurge` is 0"
        errors.append(invalid(at.child("maxUnavailable"), rolling.get("maxUnavailable") or 0, text))
    return errors + at_most_all(at.child("maxUnavailable"), rolling.get("maxUnavailable"))


def validate_deployment_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a deployment."""
    errors = validate_deployment(obj)
    return errors + unchanged(_SPEC.child("selector"), obj["spec"].get("selector"), old["spec"].get("selector"))


def validate_deployment_status(obj: Object, old: Object) -> list[FieldError]:
    """Check the counts of a deployment."""
    status = obj.get("status") or {}
    members = (
        "observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas",
        "unavailableReplicas", "collisionCount",
    )  # fmt: skip
    errors = counts(_STATUS, status, *members)
    total = status.get("replicas") or 0
    for member in ("updatedReplicas", "readyReplicas", "availableReplicas"):
        value = status.get(member) or 0
        if value > total:
            errors.append(invalid(_STATUS.child(member), value, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas") or 0
    if available > (status.get("readyReplicas") or 0):
        errors.append(invalid(_STATUS.child("availableReplicas"), available, "cannot be greater than readyReplicas"))
    return errors + check_collision_count(status, old.get("status") or {})
