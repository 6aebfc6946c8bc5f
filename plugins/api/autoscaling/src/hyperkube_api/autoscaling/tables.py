"""Table rows of autoscalers, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.autoscaling.conversion import v1_to_v2
from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_MAX_SHOWN = 2


def horizontal_pod_autoscaler(obj: Object, now: datetime) -> list[Any]:
    """Return what is scaled, by what, between which bounds."""
    if obj.get("apiVersion") == "autoscaling/v1":
        obj = v1_to_v2(obj)
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    target = spec.get("scaleTargetRef") or {}
    low = spec.get("minReplicas")
    return [
        cells.name(obj),
        f"{target.get('kind') or ''}/{target.get('name') or ''}",
        _targets(spec.get("metrics") or [], status.get("currentMetrics") or []),
        cells.UNSET if low is None else str(low),
        spec.get("maxReplicas") or 0,
        status.get("currentReplicas") or 0,
        cells.age(obj, now),
    ]


def _targets(metrics: list[Object], current: list[Object]) -> str:
    if not metrics:
        return cells.NONE
    shown = [_target(metric, current[index] if index < len(current) else {}) for index, metric in enumerate(metrics)]
    text = ", ".join(shown[:_MAX_SHOWN])
    return f"{text} + {len(shown) - _MAX_SHOWN} more..." if len(shown) > _MAX_SHOWN else text


def _target(metric: Object, current: Object) -> str:
    member = (metric.get("type") or "")[:1].lower() + (metric.get("type") or "")[1:]
    source = metric.get(member) or {}
    wished, now = source.get("target") or {}, (current.get(member) or {}).get("current") or {}
    name = f"{source.get('name') or ''}: " if member in {"resource", "containerResource"} else ""
    if wished.get("averageValue") is not None:
        average = " (avg)" if member in {"object", "external"} else ""
        return f"{name}{now.get('averageValue') or '<unknown>'}/{wished['averageValue']}{average}"
    if wished.get("averageUtilization") is not None:
        used = now.get("averageUtilization")
        shown = "<unknown>" if used is None else f"{used}%"
        return f"{name}{shown}/{wished['averageUtilization']}%"
    if wished.get("value") is not None:
        return f"{name}{now.get('value') or '<unknown>'}/{wished['value']}"
    return f"{name}<unknown>/<auto>"
