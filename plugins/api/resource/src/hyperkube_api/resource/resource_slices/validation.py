"""Validation of ResourceSlices.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

import re
from typing import Any

from hyperkube_api.core.nodes.selectors import node_selector
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import by_rule, unchanged
from hyperkube_api.resource.named_devices import (
    MAX_DOMAIN,
    MAX_IDENTIFIER,
    binding_conditions,
    check_list,
    check_map,
    check_set,
    driver,
    label,
    pool,
    qualified,
)
from hyperkube_api.resource.resource_claims.validation import EFFECTS
from hyperkube_api.resource.resource_slices.capacities import consumable_capacity, fixed_capacity

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required, too_long
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
MOST_DEVICES, MOST_DEVICES_IF_TAINTED, MOST_COUNTER_SETS, MOST_COUNTERS, MOST_CONSUMED = 128, 64, 8, 32, 2
MOST_ATTRIBUTES, MOST_TAINTS, MAX_VALUE = 32, 16, 64
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NUMBER = r"(0|[1-9]\d*)"
_PRE_RELEASE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII
)


def validate_slice(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Check a slice of devices; `old`: its old state, when it is changed."""
    spec, before = obj.get("spec") or {}, None if old is None else old.get("spec") or {}
    whole = spec.get("pool") or {}
    errors = driver(_SPEC.child("driver"), spec.get("driver")) + _pool(_SPEC.child("pool"), whole)
    if before is not None:
        errors += unchanged(_SPEC.child("pool", "name"), whole.get("name"), (before.get("pool") or {}).get("name"))
        for member in ("driver", "nodeName"):
            errors += unchanged(_SPEC.child(member), spec.get(member), before.get(member))
    errors += _places(_SPEC, spec)
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        errors.append(invalid(_SPEC, "", "only one of `sharedCounters` or `devices` is allowed"))
    was = {item.get("name"): item for item in (before or {}).get("devices") or ()}
    alone = bool(spec.get("perDeviceNodeSelection"))
    busy = any(item.get("taints") or item.get("consumesCounters") for item in devices or ())
    errors += check_set(
        _SPEC.child("devices"),
        devices,
        MOST_DEVICES_IF_TAINTED if busy else MOST_DEVICES,
        lambda path, item: _device(path, item, was.get(item.get("name")), alone=alone),
        lambda item: item.get("name") or "",
    )
    return errors + check_set(
        _SPEC.child("sharedCounters"),
        counters,
        MOST_COUNTER_SETS,
        lambda path, item: _counters(path, item, "name"),
        lambda item: item.get("name") or "",
    )


def _pool(path: Path, whole: Object) -> list[FieldError]:
    errors = pool(path.child("name"), whole.get("name"))
    count, generation = whole.get("resourceSliceCount") or 0, whole.get("generation") or 0
    if count <= 0:
        errors.append(invalid(path.child("resourceSliceCount"), count, "must be greater than zero"))
    if generation < 0:
        errors.append(invalid(path.child("generation"), generation, "must be greater than or equal to zero"))
    return errors


def _places(path: Path, spec: Object) -> list[FieldError]:
    """Check that a slice names in exactly one way the nodes that can use its devices."""
    errors: list[FieldError] = []
    chosen: list[str] = []
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name:
        chosen.append("`nodeName`")
        errors += by_rule(path.child("nodeName"), name, names.dns1123_subdomain)
    elif name is not None:
        errors.append(invalid(path.child("nodeName"), name, "must be either unset or set to a non-empty string"))
    if selector is not None:
        chosen.append("`nodeSelector`")
        errors += node_selector(path.child("nodeSelector"), selector)
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            at = path.child("nodeSelector", "nodeSelectorTerms")
            shown = [go_shape("hyperkube_api.core.v1:NodeSelectorTerm", term) for term in terms] or None
            errors.append(invalid(at, shown, "must have exactly one node selector term"))
    for member in ("allNodes", "perDeviceNodeSelection"):
        errors += _set(path.child(member), member, spec.get(member), chosen)
    if not chosen:
        errors.append(required(path, _PLACES))
    elif len(chosen) > 1:
        errors.append(invalid(path, "{" + ", ".join(chosen) + "}", f"{_PLACES}, but multiple fields are set"))
    return errors


def _set(path: Path, member: str, value: Any, chosen: list[str]) -> list[FieldError]:
    if value:
        chosen.append(f"`{member}`")
        return []
    return [] if value is None else [invalid(path, value, "must be either unset or set to true")]


def _counters(path: Path, item: Object, named: str) -> list[FieldError]:
    """Check a set of counters, or what a device takes from one; `named`: the member with the set's name."""
    name, counters = item.get(named) or "", item.get("counters") or {}
    errors = label(path.child(named), name) if name else [required(path.child(named))]
    if not counters:
        return [*errors, required(path.child("counters"))]
    return errors + check_map(path.child("counters"), counters, MOST_COUNTERS, 63, lambda *_: [], label)


def _device(path: Path, device: Object, old: Object | None, *, alone: bool) -> list[FieldError]:
    """Check a device; `alone`: each device names its own nodes."""
    errors = label(path.child("name"), device.get("name") or "")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    total = len(attributes) + len(capacity)
    if total > MOST_ATTRIBUTES:
        text = f"the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}"
        errors.append(invalid(path, total, text))
    longest = MAX_DOMAIN + 1 + MAX_IDENTIFIER
    errors += check_map(path.child("attributes"), attributes, -1, longest, _attribute, qualified)
    check = consumable_capacity if device.get("allowMultipleAllocations") else fixed_capacity
    errors += check_map(path.child("capacity"), capacity, -1, longest, check, qualified)
    taints = device.get("taints") or []
    if old is None or taints != (old.get("taints") or []):
        errors += check_list(path.child("taints"), taints, MOST_TAINTS, check_taint)
    errors += check_set(
        path.child("consumesCounters"),
        device.get("consumesCounters"),
        MOST_CONSUMED,
        lambda where, item: _counters(where, item, "counterSet"),
        lambda item: item.get("counterSet") or "",
    )
    errors += _device_places(path, device, alone=alone)
    return errors + binding_conditions(path, device)


def _device_places(path: Path, device: Object, *, alone: bool) -> list[FieldError]:
    name, selector, everywhere = (device.get(member) for member in ("nodeName", "nodeSelector", "allNodes"))
    if not alone:
        if name is None and selector is None and everywhere is None:
            return []
        text = (
            "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
            "the ResourceSlice spec"
        )
        return [invalid(path, None, text)]
    errors: list[FieldError] = []
    chosen: list[str] = []
    if name:
        chosen.append("`nodeName`")
        errors += by_rule(path.child("nodeName"), name, names.dns1123_subdomain)
    elif name is not None:
        errors.append(invalid(path.child("nodeName"), name, "must not be empty"))
    if selector is not None:
        chosen.append("`nodeSelector`")
        errors += node_selector(path.child("nodeSelector"), selector)
    errors += _set(path.child("allNodes"), "allNodes", everywhere, chosen)
    if not chosen:
        errors.append(required(path, _DEVICE_PLACES))
    elif len(chosen) > 1:
        errors.append(invalid(path, "{" + ", ".join(chosen) + "}", _DEVICE_PLACES))
    return errors


def _attribute(path: Path, attribute: Object) -> list[FieldError]:
    text, version = attribute.get("string"), attribute.get("version")
    errors: list[FieldError] = []
    if text is not None and len(text) > MAX_VALUE:
        errors.append(too_long(path.child("string"), MAX_VALUE))
    if version is not None:
        at = path.child("version")
        if not _VERSION.fullmatch(version):
            errors.append(invalid(at, version, "must be a string compatible with semver.org spec 2.0.0"))
        if len(version) > MAX_VALUE:
            errors.append(too_long(at, MAX_VALUE))
    given = sum(attribute.get(member) is not None for member in ("bool", "int", "string", "version"))
    if given == 0:
        errors.append(invalid(path, "", "exactly one value must be specified"))
    elif given > 1:
        kinds = ("int", "bool", "string", "version")
        shown = {f"{member.title()}Value": attribute.get(member) for member in kinds}
        shown |= {f"{member.title()}Values": attribute.get(f"{member}s") for member in kinds}
        errors.append(invalid(path, shown, "exactly one value must be specified"))
    return errors


def check_taint(path: Path, taint: Object, *, kept: bool = False) -> list[FieldError]:
    """Check a taint; an effect that is `kept` from before may be any."""
    key, value, effect = (taint.get(member) or "" for member in ("key", "value", "effect"))
    errors = by_rule(path.child("key"), key, names.qualified_name)
    errors += by_rule(path.child("value"), value, names.label_value)
    if not kept and effect not in EFFECTS:
        at = path.child("effect")
        errors.append(not_supported(at, effect, EFFECTS) if effect else required(at))
    return errors
