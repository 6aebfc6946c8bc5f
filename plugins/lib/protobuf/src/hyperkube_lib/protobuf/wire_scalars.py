"""How scalars travel: Go's types with a message of their own (times, quantities, raw JSON) and the plain ones.

Readers take the bytes of a message and return canonical JSON; writers take JSON, or None for a field that is unset, and
return the bytes of the message. Source: kubernetes apimachinery ``pkg/apis/meta/v1/time_proto.go`` and its relatives.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache, wraps
from typing import Any

import orjson
from hyperkube_lib.protobuf.wire import (
    BYTES,
    FIXED64,
    ONE_BYTE,
    VARINT,
    WireError,
    delimited,
    read_length,
    read_varint,
    signed,
    skip,
    tag,
    varint,
)

from hyperkube.machinery import times
from hyperkube.machinery.durations import format_nanoseconds, parse_nanoseconds
from hyperkube.machinery.schema import scalars

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FLOAT = struct.Struct("<d")

_FIRST = tag(1, BYTES)
_SECONDS, _NANOS = 1 << 3 | VARINT, 2 << 3 | VARINT
_OF_NOW = range(8, 13)
"""How long a moment of this century is: five bytes of seconds and one to five of nanoseconds, with their tags."""
_SECOND = 1_000_000_000
_POINT = len("2006-01-02T15:04:05.")

Numbers = dict[int, Any]


def read_numbers(data: bytes) -> Numbers:
    """Return the fields of a small message by number: integers, or bytes."""
    fields: Numbers = {}
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        at += 1
        if key >= 0x80:
            key, at = read_varint(data, at - 1)
        number, wire_type = key >> 3, key & 7
        if wire_type == VARINT:
            raw, at = read_varint(data, at)
            fields[number] = signed(raw)
        elif wire_type == BYTES:
            start, at = read_length(data, at, end)
            fields[number] = data[start:at]
        else:
            at = skip(data, at, end, wire_type)
    return fields


def integer(fields: Numbers, number: int, name: str) -> int:
    """Return a field that is an integer, 0 if it did not come; `name` is Go's.

    Raises:
        WireError: bytes came in its place.
    """
    value = fields.get(number, 0)
    if value.__class__ is bytes:
        raise WireError(f"proto: wrong wireType = {BYTES} for field {name}")
    return int(value)


def piece(fields: Numbers, number: int, name: str) -> bytes:
    """Return a field that is bytes, none if it did not come; `name` is Go's.

    Raises:
        WireError: an integer came in its place.
    """
    value = fields.get(number, b"")
    if value.__class__ is not bytes:
        raise WireError(f"proto: wrong wireType = {VARINT} for field {name}")
    return bytes(value)


def text(data: bytes) -> str:
    """Read UTF-8, broken bytes replaced."""
    return data.decode("utf-8", "replace")


def _quantity_text(data: bytes) -> str:
    return text(piece(read_numbers(data), 1, "String_")) or "0"


@lru_cache(maxsize=1024)
def _read_quantity(data: bytes) -> str:
    return scalars.quantity(_quantity_text(data), None)


@lru_cache(maxsize=1024)
def read_resource_value(data: bytes) -> str:
    """Read a value of a ResourceList.

    Raises:
        DecodeError: it is no quantity.
    """
    return scalars.resource_value(_quantity_text(data), None)


def _write_quantity(value: Any) -> bytes:
    return delimited(1, str("0" if value is None else value).encode())


@lru_cache(maxsize=1024)
def _read_int_or_string(data: bytes) -> Any:
    fields = read_numbers(data)
    return text(piece(fields, 3, "StrVal")) if integer(fields, 1, "Type") else int32(integer(fields, 2, "IntVal"))


def _write_int_or_string(value: Any) -> bytes:
    is_text = isinstance(value, str)
    number = 0 if is_text or value is None else value
    string = value.encode() if is_text else b""
    return tag(1, VARINT) + varint(int(is_text)) + tag(2, VARINT) + varint(number) + delimited(3, string)


def _moment(data: bytes) -> datetime | None:
    if not data:
        return None
    fields = read_numbers(data)
    seconds, nanos = integer(fields, 1, "Seconds"), integer(fields, 2, "Nanos")
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError as error:
        raise WireError(f"time out of range: {seconds} seconds") from error


@lru_cache(maxsize=1024)
def _read_time(data: bytes) -> Any:
    moment = _moment(data)
    return None if moment is None else scalars.time(times.format_time(moment), None)


def any_micro_time(data: bytes) -> Any:
    """Read a MicroTime of any year, in any form."""
    moment = _moment(data)
    return None if moment is None else scalars.micro_time(times.format_micro_time(moment), None)


@wraps(any_micro_time, assigned=(), updated=())
def read_micro_time(data: bytes) -> Any:
    """Read a MicroTime; a thousand leases are renewed within a second, which is read once."""
    if len(data) in _OF_NOW and data[0] == _SECONDS and data[6] == _NANOS and (second := _second(data[1:6])):
        nanos, end = read_varint(data, 7)
        if end == len(data) and nanos < _SECOND:
            return f"{second}{nanos // 1000:06}Z"
    return any_micro_time(data)


@lru_cache(maxsize=64)
def _second(seconds: bytes) -> str:
    """Return how a MicroTime begins, whose seconds are a number of five bytes; nothing where they are none."""
    if seconds[4] >= 0x80:
        return ""
    number, end = read_varint(seconds, 0)
    return times.format_micro_time(_EPOCH + timedelta(seconds=number))[:_POINT] if end == len(seconds) else ""


@lru_cache(maxsize=1024)
def _write_time(value: str | None) -> bytes:
    """Write seconds and microseconds; a time of whole seconds has a nanos field of 0; most objects have one thrice."""
    if value is None:
        return b""
    passed = times.parse_time(value) - _EPOCH
    seconds = passed.days * 86400 + passed.seconds
    return tag(1, VARINT) + varint(seconds) + tag(2, VARINT) + varint(passed.microseconds * 1000)


@lru_cache(maxsize=1024)
def _read_duration(data: bytes) -> Any:
    return format_nanoseconds(integer(read_numbers(data), 1, "Duration"))


def _write_duration(value: Any) -> bytes:
    return tag(1, VARINT) + varint(parse_nanoseconds(value or "0s"))


def _read_json(data: bytes) -> Any:
    raw = piece(read_numbers(data), 1, "Raw")
    if not raw:
        return None
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise WireError(f"raw extension is no JSON: {error}") from error


def _write_json(value: Any) -> bytes:
    if value is None:
        return b""
    body = orjson.dumps(value)
    size = len(body)
    return _FIRST + (ONE_BYTE[size] if size < 0x80 else varint(size)) + body


def _write_string(value: Any) -> bytes:
    return value.encode() if value else b""


def _read_bytes(data: bytes) -> Any:
    return base64.b64encode(data).decode()


def _write_bytes(value: Any) -> bytes:
    return base64.b64decode(value or "")


READERS: dict[str, Callable[[bytes], Any]] = {
    "bytes": _read_bytes,
    "raw": _read_json,
    "fields_v1": _read_json,
    "json": _read_json,
}
"""Scalar name → what reads its bytes; strings are read in place, scalars that are no bytes are in `NUMBERS`."""

REMEMBERED: dict[str, Any] = {
    "quantity": _read_quantity,
    "int_or_string": _read_int_or_string,
    "time": _read_time,
    "micro_time": read_micro_time,
    "duration": _read_duration,
}
"""Scalar name → what reads its bytes and remembers the latest; ``__wrapped__`` of it does not."""

WRITERS: dict[str, Callable[[Any], bytes]] = {
    "string": _write_string,
    "bytes": _write_bytes,
    "quantity": _write_quantity,
    "int_or_string": _write_int_or_string,
    "time": _write_time,
    "micro_time": _write_time,
    "duration": _write_duration,
    "raw": _write_json,
    "fields_v1": _write_json,
    "json": _write_json,
}
"""Scalar name → what writes its bytes."""

NUMBERS: dict[str, int] = {"bool": VARINT, "int32": VARINT, "int64": VARINT, "float64": FIXED64}
"""Scalar name → wire type of numbers and booleans."""


def int32(number: int) -> int:
    """Return a varint as Go reads it into 32 bits: what does not fit is cut off."""
    number &= 0xFFFFFFFF
    return number - 0x100000000 if number > 0x7FFFFFFF else number


INTEGERS: dict[str, Callable[[int], int]] = {"int32": int32, "int64": signed, "bool": bool}
"""Scalar name → what a varint stands for."""


def read_number(scalar: str, data: bytes, at: int) -> tuple[Any, int]:
    """Return a number or boolean at an offset, and the offset after it."""
    if scalar == "float64":
        if at + 8 > len(data):
            raise WireError("unexpected EOF")
        return scalars.float64(_FLOAT.unpack_from(data, at)[0], None), at + 8
    number, at = read_varint(data, at)
    return INTEGERS[scalar](number), at


def write_number(scalar: str, value: Any) -> bytes:
    """Write a number or boolean; None is 0."""
    if scalar == "float64":
        return _FLOAT.pack(float(value or 0))
    return varint(int(value or 0))
