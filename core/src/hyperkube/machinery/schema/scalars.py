"""Converters for scalars: each takes a JSON value and returns what Go would write back, or raises `DecodeError`.

Every converter has the signature ``(value, seen)``, as those of structs do; `seen` collects unknown member names and
is not used by scalars. ``None`` never arrives here: what null means depends on the field.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from hyperkube.machinery import times
from hyperkube.machinery.durations import DurationError, format_nanoseconds, parse_nanoseconds
from hyperkube.machinery.numbers import without_fraction
from hyperkube.machinery.quantity import FORMAT_TEXT, QuantityError, canonical, canonical_resource
from hyperkube.machinery.schema.mismatch import DecodeError, TypeMismatch, shown

Converter = Callable[[Any, list[str] | None], Any]

_ZERO_TIME = "0001-01-01T00:00:00"


def _mismatch(value: Any, go_type: str, *, literal: bool = False) -> TypeMismatch:
    return TypeMismatch(shown(value, literal=literal), go_type)


def string(value: Any, _seen: list[str] | None) -> str:
    """Accept a string."""
    if value.__class__ is str:
        return str(value)
    raise _mismatch(value, "string")


def boolean(value: Any, _seen: list[str] | None) -> bool:
    """Accept a boolean."""
    if value is True or value is False:
        return bool(value)
    raise _mismatch(value, "bool")


def int32(value: Any, _seen: list[str] | None) -> int:
    """Accept an integer of 32 bits."""
    if value.__class__ is int and -0x80000000 <= value <= 0x7FFFFFFF:
        return int(value)
    raise _mismatch(value, "int32", literal=True)


def int64(value: Any, _seen: list[str] | None) -> int:
    """Accept an integer of 64 bits."""
    if value.__class__ is int and -0x8000000000000000 <= value <= 0x7FFFFFFFFFFFFFFF:
        return int(value)
    raise _mismatch(value, "int64", literal=True)


def float64(value: Any, _seen: list[str] | None) -> float:
    """Accept a number; whole ones are written back without a fraction."""
    if value.__class__ is int:
        return int(value)
    if value.__class__ is float:
        return without_fraction(value)
    raise _mismatch(value, "float64", literal=True)


def base64(value: Any, _seen: list[str] | None) -> str:
    """Accept base64 of the standard alphabet, line breaks are dropped; or a list of bytes, as Go does."""
    if value.__class__ is list:
        return binascii.b2a_base64(bytes(map(_uint8, value)), newline=False).decode()
    if value.__class__ is not str:
        raise TypeMismatch(shown(value), "[]uint8", "slice")
    try:
        binascii.a2b_base64(value, strict_mode=True)
    except ValueError:
        return _lenient_base64(value)
    return str(value)


def _uint8(value: Any) -> int:
    """Accept a byte; null is the zero value."""
    if value is None:
        return 0
    if value.__class__ is int and 0 <= value <= 0xFF:
        return int(value)
    raise _mismatch(value, "uint8", literal=True)


def _lenient_base64(text: str) -> str:
    """Drop line breaks as Go's decoder does, or say at which byte the text stops being base64."""
    stripped = text.replace("\n", "").replace("\r", "")
    try:
        binascii.a2b_base64(stripped, strict_mode=True)
    except ValueError as error:
        raise DecodeError(f"illegal base64 data at input byte {_base64_fault(text)}") from error
    return stripped


def _base64_fault(text: str) -> int:
    """Return the offset that Go reports: the first bad character, or the end of a quantum that is too short."""
    good = 0
    for offset, character in enumerate(text):
        if character in "\r\n":
            continue
        if not (character.isascii() and (character.isalnum() or character in "+/")):
            return offset
        good += 1
    return len(text) - good % 4 if good % 4 else len(text)


def quantity(value: Any, _seen: list[str] | None) -> str:
    """Accept a quantity as text or number and return it as Kubernetes writes it."""
    try:
        return canonical(value if value.__class__ is str else _number_text(value))
    except QuantityError as error:
        raise DecodeError(str(error)) from error


def resource_value(value: Any, _seen: list[str] | None) -> str:
    """Accept a value of a ResourceList: a quantity, rounded up to thousandths."""
    try:
        return canonical_resource(value if value.__class__ is str else _number_text(value))
    except QuantityError as error:
        raise DecodeError(str(error)) from error


def _number_text(value: Any) -> str:
    if value.__class__ is int or value.__class__ is float:
        return str(value)
    raise DecodeError(FORMAT_TEXT)


def int_or_string(value: Any, _seen: list[str] | None) -> int | str:
    """Accept an integer of 32 bits or a string."""
    if value.__class__ is str:
        return str(value)
    if value.__class__ is int and -0x80000000 <= value <= 0x7FFFFFFF:
        return int(value)
    raise _mismatch(value, "int32", literal=True)


def time(value: Any, _seen: list[str] | None) -> str | None:
    """Accept a time in RFC 3339 and return it in UTC, to the second; the zero time is None."""
    if value.__class__ is not str:
        raise _mismatch(value, "string")
    return _time_text(value) if len(value) <= _LONGEST_TIME else _time_text.__wrapped__(value)


def micro_time(value: Any, _seen: list[str] | None) -> str | None:
    """Accept a time in RFC 3339 and return it in UTC with six digits of fraction; the zero time is None."""
    if value.__class__ is not str:
        raise _mismatch(value, "string")
    return _micro_time_text(value) if len(value) <= _LONGEST_TIME else _micro_time_text.__wrapped__(value)


_LONGEST_TIME = 64  # a fraction may have any number of digits, which are not to fill the memory


@lru_cache(maxsize=128)
def _time_text(text: str) -> str | None:
    """Read and write a time; the same few occur many times in an object."""
    try:
        moment = times.parse_time(text)
    except times.TimeError as error:
        raise DecodeError(str(error)) from error
    written = times.format_time(moment).rjust(len("2006-01-02T15:04:05Z"), "0")
    return None if written.startswith(_ZERO_TIME) else written


@lru_cache(maxsize=128)
def _micro_time_text(text: str) -> str | None:
    """Read and write a time with microseconds."""
    try:
        moment = times.parse_micro_time(text)
    except times.TimeError as error:
        raise DecodeError(str(error)) from error
    written = times.format_micro_time(moment).rjust(len("2006-01-02T15:04:05.000000Z"), "0")
    return None if written.startswith(_ZERO_TIME) else written


def duration(value: Any, _seen: list[str] | None) -> str:
    """Accept a Go duration and return it as Go writes it."""
    if value.__class__ is not str:
        raise _mismatch(value, "string")
    try:
        return format_nanoseconds(parse_nanoseconds(value))
    except DurationError as error:
        raise DecodeError(str(error)) from error


def raw(value: Any, _seen: list[str] | None) -> Any:
    """Accept any JSON value."""
    return value


CONVERTERS: dict[str, Converter] = {
    "string": string,
    "bool": boolean,
    "int32": int32,
    "int64": int64,
    "float64": float64,
    "bytes": base64,
    "quantity": quantity,
    "int_or_string": int_or_string,
    "time": time,
    "micro_time": micro_time,
    "duration": duration,
    "raw": raw,
    "fields_v1": raw,
    "json": raw,
    "any": raw,
}
"""Scalar name → converter."""

ZERO: dict[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "float64": 0,
    "quantity": "0",
    "int_or_string": 0,
    "duration": "0s",
}
"""Scalar name → what Go writes for its zero value; null where a scalar is missing."""
