"""How members of gnostic's messages are written: the parts that OpenAPI version 2 and 3 share as protobuf.

A table per message says which member has which number and how it is written; members whose names begin with ``x-`` are
vendor extensions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import orjson
from hyperkube_lib.protobuf.wire import FIXED64, VARINT, delimited, tag, varint

from hyperkube.machinery.objects import Object

Write: TypeAlias = Callable[[int, Any], bytes]
"""Writes a member under a number."""

Table: TypeAlias = Mapping[str, tuple[int, Write]]


def text(number: int, value: str) -> bytes:
    """Write a string."""
    return delimited(number, value.encode())


def texts(number: int, values: Iterable[str]) -> bytes:
    """Write a repeated string."""
    return b"".join(text(number, value) for value in values)


def flag(number: int, value: bool) -> bytes:
    """Write a boolean."""
    return tag(number, VARINT) + varint(int(value))


def count(number: int, value: int) -> bytes:
    """Write an integer."""
    return tag(number, VARINT) + varint(value)


def real(number: int, value: float) -> bytes:
    """Write a double."""
    return tag(number, FIXED64) + struct.pack("<d", value)


def any_value(number: int, value: Any) -> bytes:
    """Write a value of any kind, as the YAML that JSON is."""
    return delimited(number, text(2, orjson.dumps(value).decode()))


def any_values(number: int, values: Iterable[Any]) -> bytes:
    """Write repeated values of any kind."""
    return b"".join(any_value(number, value) for value in values)


def named(number: int, name: str, value: bytes) -> bytes:
    """Write a map's entry: a message with the name and the value."""
    return delimited(number, text(1, name) + delimited(2, value))


def entries(value: Mapping[str, Any], write: Callable[[Any], bytes], number: int = 1) -> bytes:
    """Return the entries of a map: repeated messages with a name and a value."""
    return b"".join(named(number, name, write(item)) for name, item in value.items())


def one(write: Callable[[Any], bytes]) -> Write:
    """Return what writes a member that is a message."""
    return lambda number, value: delimited(number, write(value))


def each(write: Callable[[Any], bytes]) -> Write:
    """Return what writes a repeated member of messages."""
    return lambda number, values: b"".join(delimited(number, write(value)) for value in values)


def message(table: Table, vendor: int, value: Object) -> bytes:
    """Return the bytes of a message; `vendor` is the number of its vendor extensions."""
    parts = []
    for name, item in value.items():
        entry = table.get(name)
        if entry is not None:
            parts.append(entry[1](entry[0], item))
        elif name.startswith("x-"):
            parts.append(named(vendor, name, text(2, orjson.dumps(item).decode())))
    return b"".join(parts)
