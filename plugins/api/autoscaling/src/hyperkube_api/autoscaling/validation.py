"""Validation of autoscalers.

Source: kubernetes pkg/apis/autoscaling/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.core.amounts import container_resource_name
from hyperkube_api.meta.validation import NOT_NEGATIVE, by_rule, positive

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

_SPEC = ROOT.child("spec")
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_TARGETS = ("AverageValue", "Utilization", "Value")
_CORE_KINDS = frozenset({"ReplicationController"})
MAX_PERIOD = 1800
MAX_WINDOW = 3600
_MEMBERS = {
    "object": "Object",
    "external": "External",
    "pods": "Pods",
    "resource": "Resource",
    "containerResource": "ContainerResource",
}


def validate_autoscaler(obj: Object) -> list[FieldError]:
    """Check an autoscaler in its v2 form."""
    spec = obj["spec"]
    low, high = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    errors: list[FieldError] = []
    if low is not None and low < 1:
        errors.append(invalid(_SPEC.child("minReplicas"), low, "must be greater than or equal to 1"))
    at = _SPEC.child("maxReplicas")
    if high == 0:
        errors.append(required(at, "must be set and greater than 0"))
    elif high < 1:
        errors.append(invalid(at, high, "must be greater than or equal to 1"))
    if low is not None and high < low:
        errors.append(invalid(at, high, "must be greater than or equal to `minReplicas`"))
    target = spec.get("scaleTargetRef") or {}
    grouped = target.get("kind") not in _CORE_KINDS
    errors += _reference(_SPEC.child("scaleTargetRef"), target, grouped=grouped)
    errors += _metrics(_SPEC.child("metrics"), spec.get("metrics") or [], low)
    behavior = spec.get("behavior") or {}
    for member in ("scaleUp", "scaleDown"):
        if behavior.get(member) is not None:
            errors += _rules(_SPEC.child("behavior", member), behavior[member])
    return errors


def _reference(path: Path, target: Object, *, grouped: bool) -> list[FieldError]:
    """Check a reference; `grouped`: it has to name an API group."""
    errors: list[FieldError] = []
    for member in ("kind", "name"):
        value = target.get(member) or ""
        if not value:
            errors.append(required(path.child(member)))
        else:
            errors += [invalid(path.child(member), value, text) for text in names.path_segment_name(value)]
    version, at = target.get("apiVersion") or "", path.child("apiVersion")
    if version.count("/") > 1:
        errors.append(invalid(at, version, f"unexpected GroupVersion string: {version}"))
    elif grouped and not version.rpartition("/")[0]:
        errors.append(invalid(at, version, "apiVersion must specify API group"))
    return errors


def _metrics(path: Path, metrics: list[Object], low: int | None) -> list[FieldError]:
    errors: list[FieldError] = []
    outside = False
    for index, metric in enumerate(metrics):
        errors += _metric(path.index(index), metric)
        outside = outside or metric.get("type") in {"Object", "External"}
    if low == 0 and not outside:
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden(path, text))
    return errors


def _metric(path: Path, metric: Object) -> list[FieldError]:
    """Check a metric: of several sources only the first is looked into."""
    kind, at = metric.get("type") or "", path.child("type")
    errors = [] if kind else [required(at, "must specify a metric source type")]
    if kind not in _METRICS:
        errors.append(not_supported(at, kind, _METRICS))
    given = [member for member in _MEMBERS if metric.get(member) is not None]
    if given:
        errors += _source(path.child(given[0]), given[0], metric[given[0]])
    expected = next((member for member, name in _MEMBERS.items() if name == kind), None)
    if expected is None:
        errors.append(not_supported(at, kind, _METRICS))  # Kubernetes looks at it in two places
    elif expected not in given:
        errors.append(required(path.child(expected), "must populate information for the given metric source"))
    if len(given) > 1:
        text = "must populate the given metric source only"
        errors += [forbidden(path.child(member), text) for member in given if member != expected]
    return errors


def _source(path: Path, member: str, source: Object) -> list[FieldError]:
    target, at = source.get("target") or {}, path.child("target")
    errors: list[FieldError] = []
    if member in {"resource", "containerResource"}:
        return _resource(path, member, source) + _target(at, target) + _resource_target(at, target)
    if member == "object":
        errors += _reference(path.child("describedObject"), source.get("describedObject") or {}, grouped=False)
    errors += _identifier(path.child("metric"), source.get("metric") or {})
    return errors + _target(at, target) + _value_target(at, member, target)


def _resource(path: Path, member: str, source: Object) -> list[FieldError]:
    name = source.get("name") or ""
    errors = [] if name else [required(path.child("name"), "must specify a resource name")]
    if member == "containerResource":
        errors += container_resource_name(path.child("name"), name) if name else []
        container = source.get("container") or ""
        if not container:
            errors.append(required(path.child("container"), "must specify a container"))
        else:
            errors += by_rule(path.child("container"), container, names.dns1123_label)
    return errors


def _value_target(at: Path, member: str, target: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    average, value = target.get("averageValue"), target.get("value")
    if member == "pods" and average is None:
        errors.append(required(at.child("averageValue"), "must specify a positive target averageValue"))
    if member == "object" and average is None and value is None:
        errors.append(required(at.child("averageValue"), "must set either a target value or averageValue"))
    if member == "external":
        if average is None and value is None:
            text = "must set either a target value for metric or a per-pod target"
            errors.append(required(at.child("averageValue"), text))
        if average is not None and value is not None:
            text = "may not set both a target value for metric and a per-pod target"
            errors.append(forbidden(at.child("value"), text))
    return errors


def _identifier(path: Path, metric: Object) -> list[FieldError]:
    name = metric.get("name") or ""
    if not name:
        return [required(path.child("name"), "must specify a metric name")]
    return [invalid(path.child("name"), name, text) for text in names.path_segment_name(name)]


def _resource_target(path: Path, target: Object) -> list[FieldError]:
    utilization, average = target.get("averageUtilization"), target.get("averageValue")
    if utilization is None and average is None:
        text = "must set either a target raw value or a target utilization"
        return [required(path.child("averageUtilization"), text)]
    if utilization is not None and average is not None:
        text = "may not set both a target raw value and a target utilization"
        return [forbidden(path.child("averageValue"), text)]
    return []


def _target(path: Path, target: Object) -> list[FieldError]:
    kind = target.get("type") or ""
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(path.child("type"), "must specify a metric target type"))
    if kind not in _TARGETS:
        text = "must be either Utilization, Value, or AverageValue"
        errors.append(invalid(path.child("type"), kind, text))
    errors += [
        invalid(path.child(member), str(parse(target[member])), "must be positive")
        for member in ("value", "averageValue")
        if target.get(member) is not None and parse(target[member]).sign != 1
    ]
    if target.get("averageUtilization") is not None and target["averageUtilization"] < 1:
        errors.append(invalid(path.child("averageUtilization"), target["averageUtilization"], "must be greater than 0"))
    return errors


def _rules(path: Path, rules: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    window, at = rules.get("stabilizationWindowSeconds"), path.child("stabilizationWindowSeconds")
    if window is not None and window < 0:
        errors.append(invalid(at, window, "must be greater than or equal to zero"))
    if window is not None and window > MAX_WINDOW:
        errors.append(invalid(at, window, f"must be less than or equal to {MAX_WINDOW}"))
    policy = rules.get("selectPolicy")
    if policy is not None and policy not in {"Disabled", "Max", "Min"}:
        errors.append(not_supported(path.child("selectPolicy"), policy, ("Disabled", "Max", "Min")))
    if not rules.get("policies"):
        errors.append(required(path.child("policies"), "must specify at least one Policy"))
    for index, item in enumerate(rules.get("policies") or ()):
        errors += _policy(path.child("policies").index(index), item)
    tolerance = rules.get("tolerance")
    if tolerance is not None and parse(tolerance).sign < 0:
        errors.append(invalid(path.child("tolerance"), str(parse(tolerance)), NOT_NEGATIVE))
    return errors


def _policy(path: Path, policy: Object) -> list[FieldError]:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    errors: list[FieldError] = []
    if kind not in {"Pods", "Percent"}:
        errors.append(not_supported(path.child("type"), kind, ("Percent", "Pods")))
    errors += positive(path.child("value"), policy.get("value") or 0)
    errors += positive(path.child("periodSeconds"), period)
    if period > MAX_PERIOD:
        errors.append(invalid(path.child("periodSeconds"), period, f"must be less than or equal to {MAX_PERIOD}"))
    return errors
