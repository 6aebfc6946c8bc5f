"""Validation of the capacities of devices.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from itertools import pairwise

from hyperkube_api.resource.named_devices import check_set

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

MAX_VALUES = 10


def fixed_capacity(path: Path, capacity: Object) -> list[FieldError]:
    """Check a capacity of a device that goes to one claim."""
    if capacity.get("requestPolicy") is None:
        return []
    return [forbidden(path.child("requestPolicy"), "allowMultipleAllocations must be true")]


def consumable_capacity(path: Path, capacity: Object) -> list[FieldError]:
    """Check a capacity of a device that several claims share."""
    policy, at = capacity.get("requestPolicy"), path.child("requestPolicy")
    if policy is None:
        return []
    values, bounds, default = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if values and bounds is not None:
        text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        return [forbidden(at, text)]
    whole = parse(capacity.get("value") or "0")
    for member, given in (("validValues", values), ("validRange", bounds)):
        if not given and not (member == "validRange" and bounds is not None):
            continue
        if default is None:
            return [required(at.child("default"), f"required when {member} is defined")]
        if member == "validValues":
            return _values(at.child(member), [str(value) for value in values], parse(default), whole)
        return _range(at.child(member), bounds or {}, parse(default), whole)
    return []


def _values(path: Path, values: list[str], default: Quantity, whole: Quantity) -> list[FieldError]:
    numbers = [parse(value) for value in values]
    errors = [
        invalid(path.index(index), str(after), "values must be sorted in ascending order")
        for index, (before, after) in enumerate(pairwise(numbers), 1)
        if before > after
    ]

    def fits(where: Path, number: Quantity) -> list[FieldError]:
        if number <= whole:
            return []
        return [invalid(where, str(number), f"option is larger than capacity value: {whole}")]

    errors += check_set(path, numbers, MAX_VALUES, fits, lambda number: str(number.value()))
    if len(numbers) > MAX_VALUES or default not in numbers:
        errors.append(invalid(path, str(default), "default value is not valid according to the requestPolicy"))
    return errors


def _range(path: Path, bounds: Object, default: Quantity, whole: Quantity) -> list[FieldError]:
    if bounds.get("min") is None:
        return [required(path.child("min"), "required when validRange is defined")]
    low, high = parse(bounds["min"]), None if bounds.get("max") is None else parse(bounds["max"])
    rules = [
        ("min", low > whole, low, f"min is larger than capacity value: {whole}"),
        ("min", default < low, default, f"default is less than min: {low}"),
    ]
    if high is not None:
        rules += [
            ("max", low > high, low, f"min is larger than max: {high}"),
            ("max", high > whole, high, f"max is larger than capacity value: {whole}"),
            ("max", default > high, default, f"default is more than max: {high}"),
        ]
    errors = [invalid(path.child(member), str(value), text) for member, broken, value, text in rules if broken]
    if bounds.get("step") is None:
        return errors
    ends = [default] if high is None else [default, high]
    return errors + _step(path.child("step"), parse(bounds["step"]), low, ends, whole)


def _step(path: Path, step: Quantity, low: Quantity, ends: list[Quantity], whole: Quantity) -> list[FieldError]:
    errors: list[FieldError] = []
    if low + step > whole:
        text = f"one step {low + step} is larger than capacity value: {whole}"
        errors.append(invalid(path, str(step), text))
    text = f"value is not a multiple of a given step ({step}) from ({low})"
    errors += [
        invalid(path, str(value), text)
        for value in ends
        if step.value() and (value.value() - low.value()) % step.value()
    ]
    return errors
