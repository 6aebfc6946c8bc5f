"""Limit ranges and resource quotas.

Source: kubernetes pkg/apis/core/validation (ValidateLimitRange, ValidateResourceQuota).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

from hyperkube_api.core.validation.amounts import (
    HUGE_PAGES,
    STANDARD_QUOTA,
    amount,
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
_SPEC = ROOT.child("spec")
_COMPUTE = frozenset({"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"})
_SCOPES: dict[str, frozenset[str]] = {
    "Terminating": _COMPUTE | {"pods"},
    "NotTerminating": _COMPUTE | {"pods"},
    "BestEffort": frozenset({"pods"}),
    "NotBestEffort": _COMPUTE | {"pods"},
    "PriorityClass": _COMPUTE | {"pods"},
    "CrossNamespacePodAffinity": _COMPUTE | {"pods"},
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
_EXISTS_ONLY = frozenset({"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"})


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


def validate_resource_quota(obj: Object) -> list[FieldError]:
    """Check a quota: names, amounts and scopes."""
    spec = obj.get("spec") or {}
    errors = _amounts(_SPEC.child("hard"), spec.get("hard"))
    return errors + _scopes(spec) + _selector(spec)


def validate_resource_quota_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a quota: the scopes stay."""
    errors = validate_resource_quota(obj)
    scopes = (obj.get("spec") or {}).get("scopes") or []
    if set(scopes) != set((old.get("spec") or {}).get("scopes") or []):
        errors.append(invalid(_SPEC.child("scopes"), scopes or None, "field is immutable"))
    return errors


def validate_quota_status(obj: Object) -> list[FieldError]:
    """Check what was counted against a quota."""
    status, path = obj.get("status") or {}, ROOT.child("status")
    return _amounts(path.child("hard"), status.get("hard")) + _amounts(path.child("used"), status.get("used"))


def _amounts(path: Path, values: Object | None) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, text in sorted((values or {}).items()):
        errors += _quota_name(path.key(name), name)
        errors += amount(path.key(name), name, text)
    return errors


def _quota_name(path: Path, name: str) -> list[FieldError]:
    errors = resource_name(path, name)
    if "/" not in name and not _is_standard(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))
    return errors


def _is_standard(name: str) -> bool:
    return name in STANDARD_QUOTA or name.startswith((HUGE_PAGES, "requests." + HUGE_PAGES))


def _scopes(spec: Object) -> list[FieldError]:
    scopes: Sequence[str] = spec.get("scopes") or []
    path = _SPEC.child("scopes")
    errors: list[FieldError] = []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid(path, scopes, "unsupported scope"))
        errors += _unscoped(path, scopes, scope, spec)
    return errors + _conflicts(path, scopes, spec)


def _unscoped(path: Path, shown: Any, scope: str, spec: Object) -> list[FieldError]:
    """Report the resources that cannot be counted within a scope."""
    text = "unsupported scope applied to resource"
    known = _SCOPES.get(scope)
    return [
        invalid(path, shown, text)
        for name in sorted(spec.get("hard") or ())
        if known is not None and _is_standard(name) and name not in known
    ]


def _conflicts(path: Path, scopes: Iterable[str], spec: Object) -> list[FieldError]:
    found = set(scopes)
    shown = spec.get("scopes") or None
    return [invalid(path, shown, "conflicting scopes") for pair in _OPPOSITES if found.issuperset(pair)]


def _selector(spec: Object) -> list[FieldError]:
    selector = spec.get("scopeSelector") or {}
    expressions = selector.get("matchExpressions") or []
    path = _SPEC.child("scopeSelector", "matchExpressions")
    errors: list[FieldError] = []
    for expression in expressions:
        scope, operator, values = (
            expression.get("scopeName") or "",
            expression.get("operator") or "",
            expression.get("values") or [],
        )
        if scope not in _SCOPES:
            errors.append(invalid(path.child("scopeName"), scope, "unsupported scope"))
        errors += _unscoped(path, _selector_shape(expressions), scope, spec)
        if scope in _EXISTS_ONLY and operator != "Exists":
            text = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating,"
                " ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                "ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.append(invalid(path.child("operator"), operator, text))
        if operator in {"In", "NotIn"}:
            if not values:
                text = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                errors.append(required(path.child("values"), text))
        elif operator in {"Exists", "DoesNotExist"}:
            if values:
                text = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.append(invalid(path.child("values"), values, text))
        else:
            errors.append(invalid(path.child("operator"), operator, "not a valid selector operator"))
    return errors + _conflicts(path, [expression.get("scopeName") or "" for expression in expressions], spec)


def _selector_shape(expressions: Sequence[Object]) -> Object:
    """Return a selector of scopes as Kubernetes prints its own struct."""
    shapes = [
        {
            "ScopeName": expression.get("scopeName") or "",
            "Operator": expression.get("operator") or "",
            "Values": expression.get("values"),
        }
        for expression in expressions
    ]
    return {"MatchExpressions": shapes}
