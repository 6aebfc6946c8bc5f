"""From one kind to another: ``int("3")``, ``string(2)``, ``timestamp("…")``, ``type(x)``, ``dyn(x)``."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.values import INT_MAX, INT_MIN, TypeValue, UInt, kind_of, unsigned

from hyperkube.machinery.booleans import parse_bool
from hyperkube.machinery.durations import DurationError, parse_nanoseconds
from hyperkube.machinery.intstr import parse_int

CONVERSIONS = Library()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_FULL = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}


def _failed(value: Any, wanted: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{kind_of(value)}' to '{_FULL.get(wanted, wanted)}'")


@CONVERSIONS.function(
    "int", "int -> int", "uint -> int", "double -> int", "string -> int", "timestamp -> int", "duration -> int"
)
def to_int(value: Any) -> int:
    """Return a signed integer."""
    if isinstance(value, str):
        parsed = parse_int(value)
        if parsed is None:
            raise _failed(value, "int")
        return parsed
    if isinstance(value, datetime):
        return math.floor((value - _EPOCH).total_seconds())
    if isinstance(value, timedelta):
        return _nanoseconds(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise EvaluationError("integer overflow")
    number = int(value)
    if not INT_MIN <= number <= INT_MAX:
        raise EvaluationError("integer overflow")
    return number


def _nanoseconds(value: timedelta) -> int:
    return (value.days * 86400 + value.seconds) * 1_000_000_000 + value.microseconds * 1000


@CONVERSIONS.function("uint", "uint -> uint", "int -> uint", "double -> uint", "string -> uint")
def to_uint(value: Any) -> UInt:
    """Return an unsigned integer."""
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+", value, re.ASCII):
            raise _failed(value, "uint")
        parsed = parse_int(value, 66)
        if parsed is None:
            raise _failed(value, "uint")
        return unsigned(parsed)
    if isinstance(value, float) and not math.isfinite(value):
        raise EvaluationError("unsigned integer overflow")
    return unsigned(int(value))


@CONVERSIONS.function("double", "double -> double", "int -> double", "uint -> double", "string -> double")
def to_double(value: Any) -> float:
    """Return a floating-point number."""
    try:
        return float(value)
    except ValueError:
        raise _failed(value, "double") from None


@CONVERSIONS.function("bool", "bool -> bool", "string -> bool")
def to_bool(value: Any) -> bool:
    """Return a truth value."""
    if isinstance(value, bool):
        return value
    read = parse_bool(value)
    if read is None:
        raise _failed(value, "bool")
    return read


@CONVERSIONS.function("bytes", "bytes -> bytes", "string -> bytes")
def to_bytes(value: str | bytes) -> bytes:
    """Return the UTF-8 of a string."""
    return value.encode() if isinstance(value, str) else value


@CONVERSIONS.function(
    "string",
    "string -> string",
    "bool -> string",
    "int -> string",
    "uint -> string",
    "double -> string",
    "bytes -> string",
    "timestamp -> string",
    "duration -> string",
)
def to_string(value: Any) -> str:
    """Return a value as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, datetime):
        return show_timestamp(value)
    if isinstance(value, timedelta):
        return show_duration(value)
    return show_double(value) if isinstance(value, float) else str(int(value))


def show_double(value: float) -> str:
    """Return a floating-point number in its shortest form, without an exponent where that is short."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value)) if value or math.copysign(1, value) > 0 else "-0"
    return re.sub(r"e([+-])(\d)$", r"e\g<1>0\2", repr(value))


def show_timestamp(value: datetime) -> str:
    """Return an instant as RFC 3339, with as many digits of the second as it has."""
    utc = value.astimezone(UTC)
    fraction = f".{utc.microsecond:06d}".rstrip("0") if utc.microsecond else ""
    return f"{utc:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def show_duration(value: timedelta) -> str:
    """Return a duration in seconds: ``3600s``."""
    total = _nanoseconds(value)
    sign, total = ("-", -total) if total < 0 else ("", total)
    seconds, nanoseconds = divmod(total, 1_000_000_000)
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    return f"{sign}{seconds}{fraction}s"


@CONVERSIONS.function("timestamp", "string -> timestamp", "int -> timestamp", "timestamp -> timestamp")
def to_timestamp(value: Any) -> datetime:
    """Return an instant, from RFC 3339 or seconds since 1970."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, int):
        try:
            return _EPOCH + timedelta(seconds=value)
        except OverflowError:
            raise EvaluationError("timestamp overflow") from None
    match = _RFC3339.fullmatch(value)
    if match is None:
        raise _failed(value, "timestamp")
    fraction = (match.group(2) or ".0")[1:7].ljust(6, "0")
    zone = "+00:00" if match.group(3) == "Z" else match.group(3)
    try:
        return datetime.fromisoformat(f"{match.group(1)}.{fraction}{zone}")
    except ValueError:
        raise _failed(value, "timestamp") from None


@CONVERSIONS.function("duration", "string -> duration", "int -> duration", "duration -> duration")
def to_duration(value: Any) -> timedelta:
    """Return a duration, from Go's notation or nanoseconds."""
    if isinstance(value, timedelta):
        return value
    try:
        nanoseconds = value if isinstance(value, int) else parse_nanoseconds(value)
        return timedelta(microseconds=nanoseconds / 1000)
    except (DurationError, OverflowError):
        raise _failed(value, "duration") from None


@CONVERSIONS.function("dyn", "A -> dyn")
def to_dyn(value: Any) -> Any:
    """Return the value, with nothing known of its type before it runs."""
    return value


@CONVERSIONS.function("type", "A -> type(A)")
def type_of(value: Any) -> TypeValue:
    """Return the type of a value."""
    kind = kind_of(value)
    return TypeValue(_FULL.get(kind, kind))
