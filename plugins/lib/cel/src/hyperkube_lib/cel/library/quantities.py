"""Quantities and versions.

Source: kubernetes apiserver ``pkg/cel/library/quantity.go``, ``semverlib.go``.
"""

from __future__ import annotations

import re
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.values import INT_MAX, INT_MIN, Opaque

from hyperkube.machinery.field import quote
from hyperkube.machinery.quantity import Quantity, QuantityError, parse

QUANTITIES = Library()


class QuantityValue(Opaque):
    """A quantity."""

    __slots__ = ("quantity",)
    kind = "kubernetes.Quantity"

    def __init__(self, quantity: Quantity) -> None:
        self.quantity = quantity

    def same(self, other: Any) -> bool:
        """Tell whether two are the same number."""
        return bool(self.quantity == other.quantity)


@QUANTITIES.function("isQuantity", "string -> bool")
def is_quantity(text: str) -> bool:
    """Tell whether a text is a quantity."""
    try:
        parse(text)
    except QuantityError:
        return False
    return True


@QUANTITIES.function("quantity", "string -> Quantity")
def quantity(text: str) -> QuantityValue:
    """Read a quantity."""
    try:
        return QuantityValue(parse(text))
    except QuantityError as error:
        raise EvaluationError(str(error)) from None


@QUANTITIES.function("sign", "Quantity -> int")
def sign(value: QuantityValue) -> int:
    """Return -1, 0 or 1."""
    return value.quantity.sign


def _is_integer(value: QuantityValue) -> bool:
    quantity = value.quantity
    return quantity.is_integer() and INT_MIN <= quantity.value() <= INT_MAX


@QUANTITIES.method("isInteger", "Quantity -> bool")
def is_integer(value: QuantityValue) -> bool:
    """Tell whether ``asInteger`` works."""
    return _is_integer(value)


@QUANTITIES.method("asInteger", "Quantity -> int")
def as_integer(value: QuantityValue) -> int:
    """Return the number as an integer."""
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return value.quantity.value()


@QUANTITIES.method("asApproximateFloat", "Quantity -> double")
def as_float(value: QuantityValue) -> float:
    """Return the number as a double."""
    return value.quantity.as_float()


def _other(value: QuantityValue | int) -> Quantity:
    return Quantity(int(value)) if isinstance(value, int) else value.quantity


@QUANTITIES.method("add", "Quantity, Quantity -> Quantity", "Quantity, int -> Quantity")
def add(one: QuantityValue, other: QuantityValue | int) -> QuantityValue:
    """Return the sum."""
    return QuantityValue(one.quantity + _other(other))


@QUANTITIES.method("sub", "Quantity, Quantity -> Quantity", "Quantity, int -> Quantity")
def sub(one: QuantityValue, other: QuantityValue | int) -> QuantityValue:
    """Return the difference."""
    return QuantityValue(one.quantity - _other(other))


@QUANTITIES.method("isGreaterThan", "Quantity, Quantity -> bool")
def is_greater(one: QuantityValue, other: QuantityValue) -> bool:
    """Tell whether the first is more."""
    return one.quantity > other.quantity


@QUANTITIES.method("isLessThan", "Quantity, Quantity -> bool")
def is_less(one: QuantityValue, other: QuantityValue) -> bool:
    """Tell whether the first is less."""
    return one.quantity < other.quantity


@QUANTITIES.method("compareTo", "Quantity, Quantity -> int")
def compare(one: QuantityValue, other: QuantityValue) -> int:
    """Return -1, 0 or 1."""
    return (one.quantity > other.quantity) - (one.quantity < other.quantity)


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?",
    re.ASCII,
)


_PARTS = ("Major", "Minor", "Patch")
_IDENTIFIER = "[0-9a-zA-Z-]+"


class SemverValue(Opaque):
    """A semantic version."""

    __slots__ = ("numbers", "order")
    kind = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, int, int], pre: str) -> None:
        self.numbers = numbers
        parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")) if pre else ()
        self.order = (numbers, not pre, parts)

    def same(self, other: Any) -> bool:
        """Tell whether two have the same precedence."""
        return bool(self.order == other.order)


def _semver(text: str, *, normalize: bool) -> SemverValue:
    if normalize:
        text = text.removeprefix("v")
        core, mark, rest = re.match(r"([^-+]*)([-+]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]  # always matches
        parts = [part.lstrip("0") or "0" for part in core.split(".")] if core else []
        parts += ["0"] * (3 - len(parts)) if parts else []
        text = ".".join(parts) + mark + rest
    match = _SEMVER.fullmatch(text)
    if match is None:
        raise EvaluationError(_semver_problem(text))
    return SemverValue((int(match[1]), int(match[2]), int(match[3])), match[4] or "")


def _semver_problem(text: str) -> str:
    """Tell what is wrong with a text that is no semantic version; source: blang/semver ``semver.go`` (Parse)."""
    numbers = text.split(".", 2)
    if len(numbers) < len(_PARTS):
        return "No Major.Minor.Patch elements found" if text else "Version string empty"
    rest, plus, build = numbers[2].partition("+")
    numbers[2], hyphen, pre = rest.partition("-")
    problems = list(map(_number_problem, _PARTS, numbers))
    problems += map(_prerelease_problem, pre.split(".") if hyphen else ())
    problems += map(_build_problem, build.split(".") if plus else ())
    return next(filter(None, problems))


def _number_problem(part: str, number: str) -> str:
    if re.fullmatch("[0-9]*", number) is None:
        return f"Invalid character(s) found in {part.lower()} number {quote(number)}"
    if not number:
        return 'strconv.ParseUint: parsing "": invalid syntax'
    return f"{part} number must not contain leading zeroes {quote(number)}" if re.match("0.", number) else ""


def _prerelease_problem(one: str) -> str:
    if not one:
        return "Prerelease is empty"
    if re.fullmatch("0[0-9]+", one):
        return f"Numeric PreRelease version must not contain leading zeroes {quote(one)}"
    return "" if re.fullmatch(_IDENTIFIER, one) else f"Invalid character(s) found in prerelease {quote(one)}"


def _build_problem(one: str) -> str:
    if not one:
        return "Build meta data is empty"
    return "" if re.fullmatch(_IDENTIFIER, one) else f"Invalid character(s) found in build meta data {quote(one)}"


@QUANTITIES.function("isSemver", "string -> bool", "string, bool -> bool")
def is_semver(text: str, normalize: bool = False) -> bool:
    """Tell whether a text is a semantic version."""
    try:
        _semver(text, normalize=normalize)
    except EvaluationError:
        return False
    return True


@QUANTITIES.function("semver", "string -> Semver", "string, bool -> Semver")
def semver(text: str, normalize: bool = False) -> SemverValue:
    """Read a semantic version."""
    return _semver(text, normalize=normalize)


for _index, _name in enumerate(("major", "minor", "patch")):
    QUANTITIES.method(_name, "Semver -> int")(lambda value, index=_index: value.numbers[index])


@QUANTITIES.method("isGreaterThan", "Semver, Semver -> bool")
def is_later(one: SemverValue, other: SemverValue) -> bool:
    """Tell whether the first comes later."""
    return one.order > other.order


@QUANTITIES.method("isLessThan", "Semver, Semver -> bool")
def is_earlier(one: SemverValue, other: SemverValue) -> bool:
    """Tell whether the first comes earlier."""
    return one.order < other.order


@QUANTITIES.method("compareTo", "Semver, Semver -> int")
def compare_versions(one: SemverValue, other: SemverValue) -> int:
    """Return -1, 0 or 1."""
    return (one.order > other.order) - (one.order < other.order)
