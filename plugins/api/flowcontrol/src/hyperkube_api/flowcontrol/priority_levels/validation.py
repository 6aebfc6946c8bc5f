"""Validation of PriorityLevelConfigurations.

Source: kubernetes pkg/apis/flowcontrol/validation/validation.go.
"""

from __future__ import annotations

import math

from hyperkube_api.flowcontrol.bootstrap import EXEMPT, MANDATORY, bootstrap_object
from hyperkube_api.flowcontrol.conditions import validate_conditions
from hyperkube_api.meta.go_shape import go_shape

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, name_of

_SPEC = ROOT.child("spec")
_TYPES = "hyperkube_api.flowcontrol.v1"
MAX_QUEUES = 10_000_000
MAX_ENTROPY_BITS = 60


def validate_priority_level(obj: Object) -> list[FieldError]:
    """Check a priority level."""
    spec = obj["spec"]
    kind, exempt = spec.get("type") or "", name_of(obj) == EXEMPT
    errors: list[FieldError] = []
    if (kind == "Exempt") != exempt:
        text = "must be 'Exempt' if and only if `name` is 'exempt'"
        if kind == "Exempt" or exempt:
            errors.append(invalid(_SPEC.child("type"), kind, text))
    if kind == "Exempt":
        if spec.get("limited") is not None:
            errors.append(forbidden(_SPEC.child("limited"), "must be nil if the type is not Limited"))
        if spec.get("exempt") is not None:
            errors += _shares(_SPEC.child("exempt"), spec["exempt"]) + _lendable(_SPEC.child("exempt"), spec["exempt"])
    elif kind == "Limited":
        if spec.get("exempt") is not None:
            errors.append(forbidden(_SPEC.child("exempt"), "must be nil if the type is Limited"))
        if spec.get("limited") is None:
            errors.append(required(_SPEC.child("limited"), "must not be empty when type is Limited"))
        else:
            errors += _limited(_SPEC.child("limited"), spec["limited"])
    else:
        errors.append(not_supported(_SPEC.child("type"), kind, ("Exempt", "Limited")))
    return errors + _mandatory_spec(obj) + validate_conditions(obj)


def _mandatory_spec(obj: Object) -> list[FieldError]:
    """Check that a mandatory priority level has its fixed specification; only ``spec.exempt`` may change."""
    name = name_of(obj)
    if name not in MANDATORY:
        return []
    must = dict(bootstrap_object("PriorityLevelConfiguration", name)["spec"])
    text = f"spec of '{name}' must equal the fixed value"
    if name == EXEMPT:
        must["exempt"] = obj["spec"].get("exempt")
        text = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
    now, fixed = (go_shape(f"{_TYPES}:PriorityLevelConfigurationSpec", spec) for spec in (obj["spec"], must))
    return [] if now == fixed else [invalid(_SPEC, now, text)]


def _shares(path: Path, section: Object) -> list[FieldError]:
    shares = section.get("nominalConcurrencyShares")
    if shares is None or shares >= 0:
        return []
    return [invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer")]


def _lendable(path: Path, section: Object) -> list[FieldError]:
    percent = section.get("lendablePercent")
    if percent is None or 0 <= percent <= 100:
        return []
    return [invalid(path.child("lendablePercent"), percent, "must be between 0 and 100, inclusive")]


def _limited(path: Path, limited: Object) -> list[FieldError]:
    errors = _shares(path, limited)
    response = limited.get("limitResponse") or {}
    kind, queuing, at = response.get("type") or "", response.get("queuing"), path.child("limitResponse")
    if kind == "Reject":
        if queuing is not None:
            text = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(forbidden(at.child("queuing"), text))
    elif kind == "Queue":
        if queuing is None:
            text = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(at.child("queuing"), text))
        else:
            errors += _queuing(at.child("queuing"), queuing)
    else:
        errors.append(not_supported(at.child("type"), kind, ("Queue", "Reject")))
    errors += _lendable(path, limited)
    borrowing, at = limited.get("borrowingLimitPercent"), path.child("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        errors.append(invalid(at, borrowing, "if specified, must be a non-negative integer"))
    return errors


def _queuing(path: Path, queuing: Object) -> list[FieldError]:
    queues, hand, length = (queuing.get(member) or 0 for member in ("queues", "handSize", "queueLengthLimit"))
    errors: list[FieldError] = []
    if length <= 0:
        errors.append(invalid(path.child("queueLengthLimit"), length, "must be positive"))
    if queues <= 0:
        errors.append(invalid(path.child("queues"), queues, "must be positive"))
    elif queues > MAX_QUEUES:
        errors.append(invalid(path.child("queues"), queues, "must not be greater than 10000000"))
    if hand <= 0:
        errors.append(invalid(path.child("handSize"), hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(path.child("handSize"), hand, f"should not be greater than queues ({queues})"))
    else:
        bits = sum(math.log2(queues - index) for index in range(hand))
        if bits > MAX_ENTROPY_BITS:
            deck = f"deckSize {queues} and handSize {hand}"
            text = f"required entropy bits of {deck} should not be greater than {MAX_ENTROPY_BITS}"
            errors.append(invalid(path.child("handSize"), hand, text))
    return errors
