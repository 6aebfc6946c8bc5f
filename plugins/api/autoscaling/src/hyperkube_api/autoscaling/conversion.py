"""Horizontal pod autoscalers between their two versions: v1 knows CPU only and keeps the rest in annotations.

Source: kubernetes pkg/apis/autoscaling/v1/conversion.go. What v1 cannot say travels as JSON of v1's own shapes in the
annotations ``autoscaling.alpha.kubernetes.io/{metrics,conditions,current-metrics,behavior}``.
"""

from __future__ import annotations

from typing import Any

import orjson
from hyperkube_api.autoscaling.defaults import default_autoscaler

from hyperkube.machinery.objects import Object

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, CONDITIONS = _PREFIX + "metrics", _PREFIX + "conditions"
CURRENT_METRICS, BEHAVIOR = _PREFIX + "current-metrics", _PREFIX + "behavior"
ANNOTATIONS = frozenset({METRICS, CONDITIONS, CURRENT_METRICS, BEHAVIOR})


def _is_plain_cpu(metric: Object) -> bool:
    resource = metric.get("resource") or {}
    return (
        metric.get("type") == "Resource"
        and resource.get("name") == "cpu"
        and (resource.get("target") or {}).get("averageUtilization") is not None
    )


def v2_to_v1(obj: Object) -> Object:
    """Return the autoscaling/v1 form of a stored autoscaler."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    annotations = {
        key: text
        for key, text in ((obj.get("metadata") or {}).get("annotations") or {}).items()
        if key not in ANNOTATIONS
    }
    metrics: list[Object] = list(spec.pop("metrics", None) or [])
    cpu = next((metric for metric in metrics if _is_plain_cpu(metric)), None)
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu["resource"]["target"]["averageUtilization"]
        metrics.remove(cpu)
    behavior = spec.pop("behavior", None)
    current: list[Object] = list(status.pop("currentMetrics", None) or [])
    used = next((metric for metric in current if _current_cpu(metric) is not None), None)
    if used is not None:
        status["currentCPUUtilizationPercentage"] = _current_cpu(used)
    conditions = status.pop("conditions", None)
    for key, value in (
        (METRICS, [flat_metric(metric) for metric in metrics]),
        (CURRENT_METRICS, [flat_current(metric) for metric in current]),
        (CONDITIONS, conditions),
        (BEHAVIOR, behavior),
    ):
        if value:
            annotations[key] = orjson.dumps(value).decode()
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return _rebuilt(obj, "autoscaling/v1", annotations, spec, status)


def v1_to_v2(obj: Object) -> Object:
    """Return the autoscaling/v2 form, which is stored and has the defaults of that version."""
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    annotations = dict((obj.get("metadata") or {}).get("annotations") or {})
    metrics = [metric_of(metric) for metric in taken(annotations, METRICS) or []]
    percentage = spec.pop("targetCPUUtilizationPercentage", None)
    if percentage is not None:
        target = {"type": "Utilization", "averageUtilization": percentage}
        metrics.insert(0, {"type": "Resource", "resource": {"name": "cpu", "target": target}})
    if metrics:
        spec["metrics"] = metrics
    behavior = taken(annotations, BEHAVIOR)
    if behavior:
        spec["behavior"] = behavior
    used = status.pop("currentCPUUtilizationPercentage", None)
    observed = taken(annotations, CURRENT_METRICS)
    current = [current_of(metric) for metric in observed or []]
    if used is not None and observed is None:  # the annotation has it too
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": used}}}]
    if current:
        status["currentMetrics"] = current
    conditions = taken(annotations, CONDITIONS)
    if conditions:
        status["conditions"] = conditions
    stored = _rebuilt(obj, "autoscaling/v2", annotations, spec, status)
    default_autoscaler(stored)
    return stored


def taken(annotations: dict[str, str], key: str) -> Any:
    """Take an annotation's JSON out; a text that is no JSON is dropped, as it cannot be converted."""
    text = annotations.pop(key, None)
    if text is None:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _rebuilt(obj: Object, api_version: str, annotations: dict[str, str], spec: Object, status: Object) -> Object:
    meta = {**(obj.get("metadata") or {})}
    if annotations:
        meta["annotations"] = annotations
    else:
        meta.pop("annotations", None)
    return {**obj, "apiVersion": api_version, "metadata": meta, "spec": spec, "status": status}


def _current_cpu(metric: Object) -> int | None:
    resource = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    value: int | None = (resource.get("current") or {}).get("averageUtilization")
    return value


_TARGETS = {
    "resource": {"averageUtilization": "targetAverageUtilization", "averageValue": "targetAverageValue"},
    "containerResource": {"averageUtilization": "targetAverageUtilization", "averageValue": "targetAverageValue"},
    "pods": {"averageValue": "targetAverageValue"},
    "object": {"value": "targetValue", "averageValue": "averageValue"},
    "external": {"value": "targetValue", "averageValue": "targetAverageValue"},
}
_CURRENTS = {
    "resource": {"averageUtilization": "currentAverageUtilization", "averageValue": "currentAverageValue"},
    "containerResource": {"averageUtilization": "currentAverageUtilization", "averageValue": "currentAverageValue"},
    "pods": {"averageValue": "currentAverageValue"},
    "object": {"value": "currentValue", "averageValue": "averageValue"},
    "external": {"value": "currentValue", "averageValue": "currentAverageValue"},
}
_OBSERVED = {
    "resource": "currentAverageValue",
    "containerResource": "currentAverageValue",
    "pods": "currentAverageValue",
    "object": "currentValue",
    "external": "currentValue",
}
"""The observed value that the flat shape always has."""
_SELECTOR = {"pods": "selector", "object": "selector", "external": "metricSelector"}


def flat_metric(metric: Object) -> Object:
    """Return a metric specification in the flat shape that came before v2."""
    return _source_to_v1(metric, "target", _TARGETS)


def flat_current(metric: Object) -> Object:
    """Return an observed metric in the flat shape that came before v2."""
    flat = _source_to_v1(metric, "current", _CURRENTS)
    for member, value in _OBSERVED.items():
        if member in flat:
            flat[member].setdefault(value, "0")
    return flat


def metric_of(metric: Object) -> Object:
    """Return a metric specification of the flat shape as v2 has it."""
    return _source_to_v2(metric, "target", _TARGETS)


def current_of(metric: Object) -> Object:
    """Return an observed metric of the flat shape as v2 has it."""
    return _source_to_v2(metric, "current", _CURRENTS)


def _source_to_v1(metric: Object, target_member: str, names: dict[str, dict[str, str]]) -> Object:
    out: Object = {"type": metric.get("type", "")}
    for member, renamed in names.items():
        source = metric.get(member)
        if not source:
            continue
        flat = {key: value for key, value in source.items() if key not in {target_member, "metric", "describedObject"}}
        values = source.get(target_member) or {}
        flat |= {renamed[key]: values[key] for key in renamed if values.get(key) is not None}
        identity = source.get("metric") or {}
        if identity.get("name"):
            flat["metricName"] = identity["name"]
        if identity.get("selector"):
            flat[_SELECTOR[member]] = identity["selector"]
        if source.get("describedObject"):
            flat["target"] = source["describedObject"]
        out[member] = flat
    return out


def _source_to_v2(metric: Object, target_member: str, names: dict[str, dict[str, str]]) -> Object:
    out: Object = {"type": metric.get("type", "")}
    for member, renamed in names.items():
        source = metric.get(member)
        if not source:
            continue
        values: Object = {key: source[old] for key, old in renamed.items() if source.get(old) is not None}
        if target_member == "target":
            kinds = {"averageUtilization": "Utilization", "value": "Value", "averageValue": "AverageValue"}
            values["type"] = next((kind for key, kind in kinds.items() if key in values), "")
        built: Object = {target_member: values}
        if member in _SELECTOR:
            built["metric"] = {"name": source.get("metricName", "")}
            if source.get(_SELECTOR[member]):
                built["metric"]["selector"] = source[_SELECTOR[member]]
        if member == "object":
            built["describedObject"] = source.get("target") or {}
        if source.get("name"):
            built["name"] = source["name"]
        if source.get("container"):
            built["container"] = source["container"]
        out[member] = built
    return out
