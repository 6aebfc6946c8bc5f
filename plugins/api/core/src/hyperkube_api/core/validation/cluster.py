"""Namespaces and nodes.

Source: kubernetes pkg/apis/core/validation (ValidateNamespace, ValidateNode).
"""

from __future__ import annotations

from hyperkube_api.core.validation.amounts import amount, resource_name
from hyperkube_api.core.validation.scheduling import EFFECTS
from hyperkube_api.meta.validation import cidr

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, forbidden, invalid, not_supported
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate_namespace(obj: Object) -> list[FieldError]:
    """Check the finalizers of a namespace's specification."""
    errors: list[FieldError] = []
    for finalizer in (obj.get("spec") or {}).get("finalizers") or ():
        at = _SPEC.child("finalizers")
        errors += [invalid(at, finalizer, text) for text in names.qualified_name(finalizer)]
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(at, finalizer, text))
    return errors


def validate_namespace_status_update(obj: Object) -> list[FieldError]:
    """Check that the phase fits whether the namespace is going."""
    phase = (obj.get("status") or {}).get("phase") or ""
    at = _STATUS.child("Phase")
    if (obj.get("metadata") or {}).get("deletionTimestamp"):
        if phase != "Terminating":
            return [invalid(at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
    elif phase != "Active":
        return [invalid(at, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    return []


def validate_node(obj: Object) -> list[FieldError]:
    """Check a node: taints, amounts and pod ranges."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    errors = _taints(ROOT.child("metadata", "taints"), spec.get("taints") or [])
    for member in ("capacity", "allocatable"):
        errors += _amounts(_STATUS.child(member), status.get(member))
    return errors + _ranges(spec.get("podCIDRs") or [])


def _taints(path: Path, taints: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at, key, effect = path.index(index), taint.get("key") or "", taint.get("effect") or ""
        errors += [invalid(at.child("key"), key, text) for text in names.qualified_name(key)]
        value = taint.get("value") or ""
        errors += [invalid(at.child("value"), value, text) for text in names.label_value(value)]
        if effect not in EFFECTS:
            errors.append(not_supported(at.child("effect"), effect, EFFECTS))
        if (key, effect) in seen:
            errors.append(duplicate(at, {"key": key, "value": value, "effect": effect}))
        seen.add((key, effect))
    return errors


def _amounts(path: Path, values: Object | None) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, text in sorted((values or {}).items()):
        errors += resource_name(path.key(name), name) + amount(path.key(name), name, text)
    return errors


def _ranges(ranges: list[str]) -> list[FieldError]:
    at = _SPEC.child("podCIDRs")
    errors = [error for index, text in enumerate(ranges) for error in cidr(at.index(index), text)]
    families = [":" in text for text in ranges]
    if not errors and (len(ranges) > 2 or len(set(families)) != len(families)):
        errors.append(invalid(at, ranges, "may specify no more than one CIDR for each IP family"))
    return errors


def validate_node_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a node: range and provider id are set once."""
    errors = validate_node(obj)
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate((obj.get("status") or {}).get("addresses") or ()):
        key = (address.get("type") or "", address.get("address") or "")
        if key in seen:
            errors.append(duplicate(_STATUS.child("addresses").index(index), {"type": key[0], "address": key[1]}))
        seen.add(key)
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        text = 'node updates may not change podCIDR except from "" to valid'
        errors.append(forbidden(_SPEC.child("podCIDRs"), text))
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        text = 'node updates may not change providerID except from "" to valid'
        errors.append(forbidden(_SPEC.child("providerID"), text))
    return errors
