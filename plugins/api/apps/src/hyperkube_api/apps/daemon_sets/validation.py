"""Validation of DaemonSets.

Source: kubernetes pkg/apis/apps/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import check_collision_count, is_zero, strategy_shape
from hyperkube_api.core.pod_specs.validation.pod_spec import validate_template
from hyperkube_api.core.workloads import NO_MATCH
from hyperkube_api.meta.validation import at_most_all, counts, int_or_percent, label_selector, unchanged

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.labels import SelectorError, from_label_selector
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def validate_daemon_set(obj: Object) -> list[FieldError]:
    """Check a daemon set."""
    spec = obj["spec"]
    template, at = spec.get("template") or {}, _SPEC.child("template")
    errors = _selector(_SPEC.child("selector"), spec.get("selector"), template)
    errors += validate_template(at, template)
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        errors.append(not_supported(at.child("spec", "restartPolicy"), pod.get("restartPolicy") or "", ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        path = _SPEC.child("template", "spec", "activeDeadlineSeconds")
        errors.append(forbidden(path, "activeDeadlineSeconds in DaemonSet is not Supported"))
    errors += counts(_SPEC, spec, "minReadySeconds")
    errors += _strategy(_SPEC.child("updateStrategy"), spec.get("updateStrategy") or {})
    return errors + counts(_SPEC, spec, "revisionHistoryLimit")


def _selector(path: Path, selector: Object | None, template: Object) -> list[FieldError]:
    """Check the selector of a daemon set: one that is missing shows by the labels that it does not match."""
    errors = label_selector(path, selector)
    labels = (template.get("metadata") or {}).get("labels") or {}
    try:
        matches = from_label_selector(selector).matches(labels)
    except SelectorError:
        matches = True
    if not matches:
        errors.append(
            invalid(_SPEC.child("template", "metadata", "labels"), dict(sorted(labels.items())) or None, NO_MATCH)
        )
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        errors.append(invalid(path, selector, "empty selector is invalid for daemonset"))
    return errors


def _strategy(path: Path, strategy: Object) -> list[FieldError]:
    kind = strategy.get("type") or ""
    if kind == "OnDelete":
        return []
    if kind != "RollingUpdate":
        return [not_supported(path, strategy_shape("DaemonSetUpdateStrategy", strategy), ("RollingUpdate", "OnDelete"))]
    rolling, at = strategy.get("rollingUpdate"), path.child("rollingUpdate")
    if rolling is None:
        return [required(at)]
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    errors = int_or_percent(at.child("maxUnavailable"), unavailable) + int_or_percent(at.child("maxSurge"), surge)
    errors += at_most_all(at.child("maxUnavailable"), unavailable) + at_most_all(at.child("maxSurge"), surge)
    if not is_zero(unavailable) and not is_zero(surge):
        errors.append(invalid(at.child("maxSurge"), surge, "may not be set when maxUnavailable is non-zero"))
    elif is_zero(unavailable) and is_zero(surge):
        errors.append(required(at.child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
    return errors


def validate_daemon_set_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a daemon set."""
    path = _SPEC.child("selector")
    return unchanged(path, obj["spec"].get("selector"), old["spec"].get("selector")) + validate_daemon_set(obj)


def validate_daemon_set_status(obj: Object, old: Object) -> list[FieldError]:
    """Check the counts of a daemon set."""
    status = obj.get("status") or {}
    members = (
        "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
        "updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount",
    )  # fmt: skip
    return counts(_STATUS, status, *members) + check_collision_count(status, old.get("status") or {})
