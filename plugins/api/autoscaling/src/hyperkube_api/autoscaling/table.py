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
_NIL = "<nil>"


def horizontal_pod_autoscaler_cells(obj: Object, now: datetime) -> list[Any]:
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
    """Return what was measured and what is targeted, as the kind of source defines it."""
    kind = metric.get("type") or ""
    member = kind[:1].lower() + kind[1:]
    source = metric.get(member) or {}
    target, measured = source.get("target") or {}, current.get(member)
    if kind in {"Resource", "ContainerResource"}:
        return f"{source.get('name') or ''}: {_of_resource(target, measured)}"
    if kind == "Pods":
        return f"{_amount(measured, 'averageValue')}/{target.get('averageValue') or _NIL}"
    if kind not in {"External", "Object"}:
        return "<unknown type>"
    if target.get("averageValue") is None:
        return f"{_amount(measured, 'value')}/{target.get('value') or _NIL}"
    average = _current(measured).get("averageValue") or cells.UNKNOWN
    return f"{average}/{target['averageValue']} (avg)"


def _of_resource(target: Object, measured: Object | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_amount(measured, 'averageValue')}/{target['averageValue']}"
    current, wanted = _current(measured).get("averageUtilization"), target.get("averageUtilization")
    used = cells.UNKNOWN if current is None else f"{current}%"
    return f"{used}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _amount(measured: Object | None, member: str) -> str:
    """Return what was measured; an absent amount of a metric that was measured is Go's nil."""
    return cells.UNKNOWN if measured is None else str(_current(measured).get(member) or _NIL)


def _current(measured: Object | None) -> Object:
    return (measured or {}).get("current") or {}
