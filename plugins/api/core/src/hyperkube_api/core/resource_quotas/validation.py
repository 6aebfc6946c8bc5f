"""What is wrong with a resource quota.

Source: kubernetes pkg/apis/core/validation (ValidateResourceQuota).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hyperkube_api.core.amounts import (
    STANDARD_QUOTA,
    amount,
    resource_name,
)

from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX, REQUESTS_PREFIX
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object

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
    return name in STANDARD_QUOTA or name.startswith((HUGE_PAGES_PREFIX, REQUESTS_PREFIX + HUGE_PAGES_PREFIX))


def _scopes(spec: Object) -> list[FieldError]:
    scopes: Sequence[str] = spec.get("scopes") or []
    path = _SPEC.child("scopes")
    errors: list[FieldError] = []
    for scope in dict.fromkeys(scopes):
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
    shown = _selector_shape(expressions)
    seen: set[str] = set()
    for expression in expressions:
        scope, operator, values = (
            expression.get("scopeName") or "",
            expression.get("operator") or "",
            expression.get("values") or [],
        )
        if scope not in _SCOPES:
            errors.append(invalid(path.child("scopeName"), scope, "unsupported scope"))
        if scope not in seen:
            seen.add(scope)
            errors += _unscoped(path, shown, scope, spec)
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
