"""Arithmetic, order and logic. Source: cel-spec ``doc/langdef.md`` (List of standard definitions)."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.values import UInt, concatenate, unsigned, whole

OPERATORS = Library()
_OWN = ("int, int -> int", "uint, uint -> uint", "double, double -> double")


def _number(result: Any, like: Any) -> Any:
    if type(like) is float:
        return result
    return unsigned(result) if type(like) is UInt else whole(result)


def _longer(one: Any, other: Any) -> int:
    return (len(one) + len(other)) // 10 if isinstance(one, list) else 0


@OPERATORS.function(
    "_+_",
    *_OWN,
    "string, string -> string",
    "bytes, bytes -> bytes",
    "list(A), list(A) -> list(A)",
    "timestamp, duration -> timestamp",
    "duration, timestamp -> timestamp",
    "duration, duration -> duration",
    cost=_longer,
)
def add(one: Any, other: Any) -> Any:
    """Return the sum, or one after the other."""
    if isinstance(one, list):
        return concatenate(one, other)
    if isinstance(one, str | bytes):
        return one + other
    if isinstance(one, datetime | timedelta):
        return _moment(lambda: one + other)
    return _number(float(one) + other if type(one) is float else int(one) + int(other), one)


def _moment(make: Any) -> Any:
    try:
        return make()
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


@OPERATORS.function(
    "_-_",
    *_OWN,
    "timestamp, timestamp -> duration",
    "timestamp, duration -> timestamp",
    "duration, duration -> duration",
)
def subtract(one: Any, other: Any) -> Any:
    """Return the difference."""
    if isinstance(one, datetime | timedelta):
        return _moment(lambda: one - other)
    return _number(one - other if type(one) is float else int(one) - int(other), one)


@OPERATORS.function("_*_", *_OWN)
def multiply(one: Any, other: Any) -> Any:
    """Return the product."""
    return _number(one * other if type(one) is float else int(one) * int(other), one)


@OPERATORS.function("_/_", *_OWN)
def divide(one: Any, other: Any) -> Any:
    """Return the quotient; of integers, cut towards nought."""
    if type(one) is float:
        if other == 0:
            return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1, other)
        return one / other
    if other == 0:
        raise EvaluationError("division by zero")
    return _number(_cut(int(one), int(other)), one)


def _cut(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


@OPERATORS.function("_%_", "int, int -> int", "uint, uint -> uint")
def remainder(one: int, other: int) -> Any:
    """Return what is left of a division, with the sign of the dividend."""
    if other == 0:
        raise EvaluationError("modulus by zero")
    return _number(int(one) - _cut(int(one), int(other)) * int(other), one)


@OPERATORS.function("-_", "int -> int", "double -> double")
def negate(value: Any) -> Any:
    """Return the negative."""
    return _number(-value, value)


_NUMBERS = ("int", "uint", "double")
_ORDERED = (
    "bool, bool -> bool",
    *(f"{one}, {other} -> bool" for one in _NUMBERS for other in _NUMBERS),
    "string, string -> bool",
    "bytes, bytes -> bool",
    "timestamp, timestamp -> bool",
    "duration, duration -> bool",
)


@OPERATORS.function("_<_", *_ORDERED)
def less(one: Any, other: Any) -> bool:
    """Tell whether one comes before the other."""
    return bool(one < other)


@OPERATORS.function("_<=_", *_ORDERED)
def at_most(one: Any, other: Any) -> bool:
    """Tell whether one comes before the other or is equal."""
    return bool(one <= other)


@OPERATORS.function("_>_", *_ORDERED)
def greater(one: Any, other: Any) -> bool:
    """Tell whether one comes after the other."""
    return bool(one > other)


@OPERATORS.function("_>=_", *_ORDERED)
def at_least(one: Any, other: Any) -> bool:
    """Tell whether one comes after the other or is equal."""
    return bool(one >= other)


def _inline(*_values: Any) -> Any:
    raise AssertionError("evaluated in line")


for _name, _signatures in {
    "_&&_": ("bool, bool -> bool",),
    "_||_": ("bool, bool -> bool",),
    "!_": ("bool -> bool",),
    "_?_:_": ("bool, A, A -> A",),
    "_==_": ("A, A -> bool",),
    "_!=_": ("A, A -> bool",),
    "@in": ("A, list(A) -> bool", "A, map(A, B) -> bool"),
    "_[_]": (
        "list(A), int -> A",
        "map(A, B), A -> B",
        "optional(list(A)), int -> optional(A)",
        "optional(map(A, B)), A -> optional(B)",
    ),
    "_[?_]": (
        "list(A), int -> optional(A)",
        "map(A, B), A -> optional(B)",
        "optional(list(A)), int -> optional(A)",
        "optional(map(A, B)), A -> optional(B)",
    ),
}.items():
    OPERATORS.function(_name, *_signatures)(_inline)
