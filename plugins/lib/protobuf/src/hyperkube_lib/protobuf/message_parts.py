"""Reads the parts of a message that are no messages of a schema: maps, packed numbers, embedded structs, scalars."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

from hyperkube_lib.protobuf.wire import BYTES, read_length, read_varint, skip
from hyperkube_lib.protobuf.wire_scalars import read_number

from hyperkube.machinery.objects import Object

Reader = Callable[[bytes, int, int], Any]
"""Reads the bytes between two offsets; None is the zero value."""

Merge = Callable[[Object, bytes, int, int], bool]
"""Reads the bytes between two offsets into an object; tells whether what it adds to is out of order now."""

LONGEST_REMEMBERED = 64
"""Bytes of a scalar, or an entry of a map, that is remembered: quantities and names may have any length."""

_ONE_BYTE = 0x80
"""From here on a length has more than one byte."""
_SHORTEST_ENTRY = 4
"""Bytes of an entry with two empty texts."""

_KEY, _VALUE = 1 << 3 | BYTES, 2 << 3 | BYTES
"""Tags of an entry of a map."""


class Reads(Protocol):
    """What reads values that have a length of their own: the `MessageReader` of a schema, or `Plain`.

    Attributes:
        zero_size: the length of the message in which nothing is set, -1 where there is none (see `MessageReader`).
    """

    read: Reader
    zero_size: int


class Plain:
    """Reads what is no message of a schema."""

    __slots__ = ("read", "zero_size")

    def __init__(self, read: Reader) -> None:
        self.read = read
        self.zero_size = -1


def remembering(convert: Any) -> Reader:
    """Return the reader of a scalar that is remembered unless it is long."""

    def read(data: bytes, at: int, end: int) -> Any:
        piece = data[at:end]
        return convert(piece) if end - at <= LONGEST_REMEMBERED else convert.__wrapped__(piece)

    return read


def read_strings(data: bytes, at: int, end: int) -> list[str]:
    """Read a list of strings that is a message with field 1 repeated."""
    items: list[str] = []
    while at < end:
        key, at = read_varint(data, at)
        if key == _KEY:
            start, at = read_length(data, at, end)
            items.append(data[start:at].decode("utf-8", "replace"))
        else:
            at = skip(data, at, end, key & 7)
    return items


def inlined(reader: Reads) -> Merge:
    """Return what reads the members of an embedded struct."""

    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        out |= reader.read(data, at, end)
        return False  # its place says so already

    return merge


def packed(name: str, scalar: str) -> Merge:
    """Return what reads several numbers of a list."""

    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        items = out.setdefault(name, [])
        while at < end:
            value, at = read_number(scalar, data, at)
            items.append(value)
        return False

    return merge


def entry(name: str, values: Reads | None, zero: Callable[[], Any]) -> Merge:
    """Return what reads one entry of a map; `values` is None for texts, `zero` makes a value that did not come."""

    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        if values is None and end - at <= LONGEST_REMEMBERED:
            key, value = text_entry(data[at:end])
        else:
            key, value = _entry(data, at, end, values)
            if value is None:
                value = zero()
        entries = out.setdefault(name, {})
        is_out_of_order = bool(entries) and key < next(reversed(entries))  # Go writes them in order
        entries[key] = value
        return is_out_of_order

    return merge


@lru_cache(maxsize=4096)
def text_entry(message: bytes) -> tuple[str, str]:
    """Read a short entry of two texts: labels and selectors, which many objects share."""
    return long_text_entry(message, 0, len(message))


def long_text_entry(data: bytes, at: int, end: int) -> tuple[str, str]:
    """Read an entry of two texts of any length."""
    if end - at >= _SHORTEST_ENTRY and data[at] == _KEY and data[at + 1] < _ONE_BYTE:  # as Go writes it
        stop = at + 2 + data[at + 1]
        if stop < end and data[stop] == _VALUE:
            start, last = read_length(data, stop + 1, end)
            if last == end:
                return str(data[at + 2 : stop], "utf-8", "replace"), str(data[start:end], "utf-8", "replace")
    key, value = _entry(data, at, end, None)
    return key, value or ""


def _entry(data: bytes, at: int, end: int, values: Reads | None) -> tuple[str, Any]:
    """Read an entry of a map: a message with the key as field 1 and the value as field 2, None if it did not come."""
    key, value = "", None
    while at < end:
        tag, at = read_varint(data, at)
        if tag & 7 != BYTES:
            at = skip(data, at, end, tag & 7)
            continue
        start, at = read_length(data, at, end)
        if tag == _KEY:
            key = data[start:at].decode("utf-8", "replace")
        elif tag == _VALUE:
            value = data[start:at].decode("utf-8", "replace") if values is None else values.read(data, start, at)
    return key, value
