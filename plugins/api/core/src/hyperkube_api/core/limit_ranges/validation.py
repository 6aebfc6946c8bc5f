"""What is wrong with a limit range.

Source: kubernetes pkg/apis/core/validation (ValidateLimitRange).
"""

from __future__ import annotations

from collections.abc import Container

from hyperkube_api.core.amounts import (
    container_resource_name,
    may_overcommit,
    resource_name,
)

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, forbidden, invalid, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_LIMITS = ROOT.child("spec", "limits")


def validate_limit_range(obj: Object) -> list[FieldError]:
    """Check a limit range: types once each, bounds in order."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
        at, kind = _LIMITS.index(index), item.get("type") or ""
        errors += _limit_type(at.child("type"), kind)
        if kind in seen:
            errors.append(duplicate(at.child("type"), kind))
        seen.add(kind)
        errors += _limit_item(at, item, kind)
    return errors


def _limit_type(path: Path, kind: str) -> list[FieldError]:
    errors = [invalid(path, kind, text) for text in names.qualified_name(kind)]
    if not errors and "/" not in kind and kind not in TYPES:
        errors.append(invalid(path, kind, "must be a standard limit type or fully qualified"))
    return errors


def _limit_item(at: Path, item: Object, kind: str) -> list[FieldError]:
    errors: list[FieldError] = []
    amounts: dict[str, dict[str, Quantity]] = {}
    check_name = container_resource_name if kind in {"Pod", "Container"} else resource_name
    for member in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
        amounts[member] = {}
        if member == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            errors += _storage_bounds(at.child("limits"), {**amounts["min"], **amounts["max"]})
        if kind == "Pod" and member in {"default", "defaultRequest"}:
            if item.get(member):
                errors.append(forbidden(at.child(member), "may not be specified when `type` is 'Pod'"))
            continue
        for name, text in sorted((item.get(member) or {}).items()):
            errors += check_name(at.child(member).key(name), name)
            amounts[member][name] = parse(text)
    for name in sorted({name for values in amounts.values() for name in values}):
        errors += _bounds(at, name, {member: values[name] for member, values in amounts.items() if name in values})
    return errors


def _storage_bounds(path: Path, bounds: Container[str]) -> list[FieldError]:
    text = "either minimum or maximum storage value is required, but neither was provided"
    return [] if "storage" in bounds else [required(path, text)]


def _bounds(at: Path, name: str, values: dict[str, Quantity]) -> list[FieldError]:
    """Check min ≤ default request ≤ default ≤ max, and the ratio against all of them."""
    errors: list[FieldError] = []
    low, high = values.get("min"), values.get("max")
    default, request, ratio = values.get("default"), values.get("defaultRequest"), values.get("maxLimitRequestRatio")

    def above(
        member: str, shown: Quantity, what: str, bound: Quantity, than: str, value: Quantity | None = None
    ) -> None:
        text = f"{what} value {value or shown} is greater than {than} value {bound}"
        errors.append(invalid(at.child(member).key(name), str(shown), text))

    if low is not None and high is not None and low > high:
        above("min", low, "min", high, "max")
    if request is not None and low is not None and low > request:
        above("defaultRequest", request, "min", request, "default request", low)
    if request is not None and high is not None and request > high:
        above("defaultRequest", request, "default request", high, "max")
    if request is not None and default is not None and request > default:
        above("defaultRequest", request, "default request", default, "default limit")
    if default is not None and low is not None and low > default:
        above("default", low, "min", default, "default")
    if default is not None and high is not None and default > high:
        above("default", high, "default", high, "max", default)
    if ratio is not None:
        errors += _ratio(at.child("maxLimitRequestRatio").key(name), ratio, low, high)
    if not may_overcommit(name) and default is not None and request is not None and default != request:
        text = f"default value {default} must equal to defaultRequest value {request} in {name}"
        errors.append(invalid(at.child("defaultRequest").key(name), str(request), text))
    return errors


def _ratio(path: Path, ratio: Quantity, low: Quantity | None, high: Quantity | None) -> list[FieldError]:
    errors: list[FieldError] = []
    if ratio < parse("1"):
        errors.append(invalid(path, str(ratio), f"ratio {ratio} is less than 1"))
    if low is not None and high is not None and low.milli_value():
        most = high.as_float() / low.as_float()
        if ratio.as_float() > most:
            text = f"ratio {ratio} is greater than max/min = {most:f}"
            errors.append(invalid(path, str(ratio), text))
    return errors
