"""What is wrong with a node.

Source: kubernetes pkg/apis/core/validation (ValidateNode).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import orjson
from hyperkube_api.core.amounts import amount
from hyperkube_api.core.go_json import syntax_error
from hyperkube_api.meta.validation import cidr

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    quote,
    required,
)
from hyperkube.machinery.objects import Object, annotations_of

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
_TAINTS = ROOT.child("metadata", "taints")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TAINTS = "scheduler.alpha.kubernetes.io/taints"
MAX_FEATURE = 253
_SHORT = 128
"""Characters of a resource and its amount that are remembered."""

_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z0-9]+)*")
_FEATURE_FORM = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def validate_node(obj: Object) -> list[FieldError]:
    """Check a node: taints, amounts, swap, features and pod ranges."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    errors = _annotated_taints(annotations_of(obj))
    errors += _taints(_TAINTS, spec.get("taints") or [])
    errors += _resources(status)
    swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
    if swap is not None and swap <= 0:
        at = ROOT.child("metadata", "nodeSwapStatus", "capacity")
        errors.append(invalid(at, swap, "must be greater than zero"))
    errors += _features(status.get("declaredFeatures") or ())
    return errors + _ranges(spec.get("podCIDRs") or [])


def _annotated_taints(annotations: Mapping[str, str]) -> list[FieldError]:
    """Check the taints that a node has in the deprecated annotation."""
    if not annotations.get(TAINTS):
        return []
    path = ROOT.child("metadata", "annotations")
    try:
        taints = orjson.loads(annotations[TAINTS])
    except orjson.JSONDecodeError as error:
        return [invalid(path, TAINTS, syntax_error(error))]
    if not isinstance(taints, list) or not all(isinstance(taint, dict) for taint in taints):
        return [invalid(path, TAINTS, "json: cannot unmarshal into Go value of type []v1.Taint")]
    return _taints(path.child(TAINTS), taints)


def _taints(path: Path, taints: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at = path.index(index)
        key, value, effect = (taint.get(member) or "" for member in ("key", "value", "effect"))
        errors += [invalid(at.child("key"), key, text) for text in names.qualified_name(key)]
        wrong = names.label_value(value)
        if wrong:
            errors.append(invalid(at.child("value"), value, ";".join(wrong)))
        if not effect:
            errors.append(required(at.child("effect")))
        elif effect not in EFFECTS:
            errors.append(not_supported(at.child("effect"), effect, EFFECTS))
        if (key, effect) in seen:
            shape = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            text = "taints must be unique by key and effect pair"
            errors.append(replace(duplicate(at, shape), detail=text))
        seen.add((key, effect))
    return errors


def _resources(status: Object) -> list[FieldError]:
    return [
        error
        for member in ("capacity", "allocatable")
        for name, text in sorted((status.get(member) or {}).items())
        if len(name) + len(text) > _SHORT or not _is_amount(name, text)
        for error in amount(_STATUS.child(member, name), name, text)
    ]


@lru_cache(maxsize=1024)
def _is_amount(name: str, text: str) -> bool:
    """Tell whether a quantity of a resource is right; nodes of a kind report the same ones again and again."""
    return not amount(_STATUS, name, text)


def _features(features: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    path = _STATUS.child("declaredFeatures")
    for index, feature in enumerate(features):
        text = ""
        if len(feature) > MAX_FEATURE:
            text = f"must be no more than {MAX_FEATURE} characters"
        elif not _FEATURE.fullmatch(feature):
            text = _FEATURE_FORM
        if text:
            errors.append(invalid(path.index(index), feature, f"invalid feature name {quote(feature)}: {text}"))
        following = features[index + 1 : index + 2]
        if following and following[0] == feature:
            errors.append(duplicate(path.index(index + 1), feature))
        elif following and following[0] < feature:
            errors.append(invalid(path.index(index + 1), following[0], "list must be sorted alphabetically"))
    return errors


def _ranges(ranges: list[str]) -> list[FieldError]:
    at = _SPEC.child("podCIDRs")
    errors = [error for index, text in enumerate(ranges) for error in cidr(at.index(index), text)]
    families = [":" in text for text in ranges]
    if not errors and (len(ranges) > 2 or len(set(families)) != len(families)):
        errors.append(invalid(at, ranges, "may specify no more than one CIDR for each IP family"))
    return errors


def validate_node_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a node: as a new one, and that range and provider id are set once."""
    return validate_node(obj) + validate_node_status_update(obj, old)


def validate_node_status_update(obj: Object, old: Object) -> list[FieldError]:
    """Check what may change of a node, as its kubelet reports it."""
    spec, status, before = obj.get("spec") or {}, obj.get("status") or {}, old.get("spec") or {}
    errors = (
        _annotated_taints(annotations_of(obj)) + _resources(status) + _features(status.get("declaredFeatures") or ())
    )
    seen: set[tuple[str, str]] = set()
    for index, address in enumerate(status.get("addresses") or ()):
        key = (address.get("type") or "", address.get("address") or "")
        if key in seen:
            errors.append(duplicate(_STATUS.child("addresses").index(index), {"Type": key[0], "Address": key[1]}))
        seen.add(key)
    errors += _ranges_kept(spec.get("podCIDRs") or [], before.get("podCIDRs") or [])
    if before.get("providerID") and before["providerID"] != spec.get("providerID"):
        text = 'node updates may not change providerID except from "" to valid'
        errors.append(forbidden(_SPEC.child("providerID"), text))
    errors += _taints(_TAINTS, spec.get("taints") or [])
    if (spec.get("externalID") or "") != (before.get("externalID") or ""):
        errors.append(forbidden(_SPEC.child("externalID"), "may not be updated"))
    return errors


def _ranges_kept(ranges: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    """Check that the ranges of a node's pods stayed; each that differs counts."""
    text = 'node updates may not change podCIDR except from "" to valid'
    if old and len(old) != len(ranges):
        return [forbidden(_SPEC.child("podCIDRs"), text)]
    return [forbidden(_SPEC.child("podCIDRs"), text) for now, before in zip(ranges, old, strict=False) if now != before]
