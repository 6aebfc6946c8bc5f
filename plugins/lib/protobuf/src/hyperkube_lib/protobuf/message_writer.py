"""From JSON to protobuf: writers of messages, compiled from schemas when a message is first met.

Gogo's rules: every field that is no pointer, list or map is written, zero values and empty messages included; fields in
the order of their numbers; maps in the order of their keys; nothing is packed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import orjson
from hyperkube_lib.protobuf.wire import BYTES, ONE_BYTE, delimited, tag, varint
from hyperkube_lib.protobuf.wire_scalars import NUMBERS, WRITERS, write_number

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import Inline, KubeField, List, Map, Struct

Writer = Callable[[Any], bytes]
"""Returns the bytes of a value, without tag and length; None is the zero value."""

Part = Callable[[Any], bytes]
"""Returns a field's bytes, or those of the whole object where the field is embedded."""


class _Member(NamedTuple):
    """How a member is written.

    Attributes:
        place: among the fields in the order of their numbers.
        write: writes the value; None for a string.
        head: the tag that comes before the value and its length; empty where `write` returns the whole field.
    """

    place: int
    write: Writer | None
    head: bytes


class MessageWriter:
    """Writes objects of one schema, and of all below it.

    An object has few of the members that its schema declares. So the bytes of an empty object are laid out once, field
    by field, and a write replaces only those of the members that are there.
    """

    def __init__(self, schema: type[KubeSchema], writers: dict[type[KubeSchema], MessageWriter]) -> None:
        self._schema = schema
        self._writers = writers
        self._shape = schema.shape
        self._zeros: list[bytes] | None = None
        self._empty = b""
        self._members: dict[str, _Member] = {}
        self._embedded: list[tuple[int, Part]] = []
        self.write: Writer = self._write
        """Returns the message of an object."""
        if schema.templated:
            self.write = _once(self._write)
        elif schema.own:
            self.write = self._around(schema.own)

    def _write(self, value: Any) -> bytes:
        obj = _unshaped(self._shape, value) if self._shape else value or {}
        if self._zeros is None:
            self._compile()
        if not obj and not self._embedded:
            return self._empty
        return b"".join(self._pieces(obj))

    def _pieces(self, obj: Object) -> list[bytes]:
        """Return the fields of an object, in the order of their numbers."""
        if self._zeros is None:
            self._compile()
        out, members = self._zeros.copy(), self._members  # type: ignore[union-attr]  # compiled above
        for name, item in obj.items():
            if item is not None and (found := members.get(name)) is not None:
                place, write, head = found
                body = item.encode() if write is None else write(item)  # most members are strings: no call for them
                if head:
                    size = len(body)
                    out[place] = head + (ONE_BYTE[size] if size < 0x80 else varint(size)) + body
                else:
                    out[place] = body
        for place, part in self._embedded:
            out[place] = part(obj)
        return out

    def cut(self, obj: Object) -> tuple[bytes, ...]:
        """Return an object's message cut at the texts that it has of its own (`KubeSchema.own`).

        Between each two pieces belong the length of a text and its bytes, in the order of their numbers.
        """
        own = self._schema.own
        fields = self._pieces({**obj, **dict.fromkeys(own, "")})
        cut, begin = [], 0
        for name in own:
            place, _, head = self._members[name]
            cut.append(b"".join((*fields[begin:place], head)))
            begin = place + 1
        cut.append(b"".join(fields[begin:]))
        return tuple(cut)

    def _around(self, own: Sequence[str]) -> Writer:
        """Return a writer that knows the messages of the latest objects, cut at the texts that each has of its own."""
        latest: Recent[bytes, tuple[bytes, ...]] = Recent(TEMPLATES)
        open_places = dict.fromkeys(own, "")

        def write(value: Any) -> bytes:
            obj = value or {}
            key = orjson.dumps({**obj, **open_places})
            pieces = latest.get(key)
            if pieces is None:
                pieces = self.cut(obj)
                if len(key) <= TEMPLATE_MAX:
                    latest.keep(key, pieces)
            out: list[bytes] = []
            for piece, text in zip(pieces, map(obj.get, own), strict=False):  # behind the last text comes one more
                body = text.encode() if text else b""
                size = len(body)
                out += (piece, ONE_BYTE[size] if size < 0x80 else varint(size), body)
            out.append(pieces[-1])
            return b"".join(out)

        return write

    def _compile(self) -> None:
        """Lay out the fields in the order of their numbers."""
        fields = sorted((field for field in self._schema.declared().values() if field.number), key=attrgetter("number"))
        zeros = []
        for place, field in enumerate(fields):
            write, head = self._part(field)
            if isinstance(field, Inline):
                self._embedded.append((place, partial(_framed, write, head)))
                zeros.append(b"")
                continue
            self._members[field.json_name] = _Member(place, None if field.scalar == "string" else write, head)
            is_left_out = field.ptr or isinstance(field, List | Map) or field.scalar == "bytes"
            zeros.append(b"" if is_left_out else _framed(write, head, None))
        self._zeros, self._empty = zeros, b"".join(zeros)

    def _of(self, field: Struct) -> MessageWriter:
        schema = field.schema()
        writer = self._writers.get(schema)
        if writer is None:
            writer = self._writers[schema] = MessageWriter(schema, self._writers)
        return writer

    def _part(self, field: KubeField) -> tuple[Writer, bytes]:
        """Return what writes a field's value, and the tag before it or nothing: see `_Member`."""
        head = tag(field.number, BYTES)
        if isinstance(field, Map):
            return partial(_map, head, self._value(field.items)), b""
        if isinstance(field, List):
            if field.wrapper:
                return _wrapped, head
            if field.items.scalar in NUMBERS:
                return partial(_numbers, tag(field.number, NUMBERS[field.items.scalar]), field.items.scalar), b""
            return partial(_repeated, head, self._value(field.items)), b""
        if field.scalar in NUMBERS:
            write = _number.__wrapped__ if field.scalar == "float64" else _number  # -0.0 equals 0.0, but for its bytes
            return partial(write, tag(field.number, NUMBERS[field.scalar]), field.scalar), b""
        return self._value(field), head

    def _value(self, field: KubeField) -> Writer:
        if isinstance(field, Struct):
            return self._of(field).write
        if isinstance(field, List):
            return _wrapped
        return WRITERS[field.scalar]


def _unshaped(shape: str, value: Any) -> Object:
    """Return the fields of a part of a JSON schema that is an object or something else."""
    if isinstance(value, dict):
        return {"allows": True, "schema": value}
    if shape == "bool":
        return {"allows": bool(value)}
    return {"jSONSchemas": value, "property": value}


def _once(write: Writer) -> Writer:
    """Return a writer that knows the messages of the latest objects."""
    latest: Recent[bytes, bytes] = Recent(TEMPLATES)

    def write_once(value: Any) -> bytes:
        if not value:
            return write(value)
        key = orjson.dumps(value)
        message = latest.get(key)
        if message is None:
            message = write(value)
            if len(key) <= TEMPLATE_MAX:
                latest.keep(key, message)
        return message

    return write_once


def _framed(write: Writer, head: bytes, value: Any) -> bytes:
    body = write(value)
    return head + varint(len(body)) + body if head else body


_text = WRITERS["string"]


def _wrapped(value: Any) -> bytes:
    return b"".join([delimited(1, item.encode()) for item in value or ()])


@lru_cache(maxsize=4096)
def _number(head: bytes, scalar: str, value: Any) -> bytes:
    return head + write_number(scalar, value)


def _numbers(head: bytes, scalar: str, items: Any) -> bytes:
    return b"".join([head + write_number(scalar, item) for item in items])


def _repeated(head: bytes, write: Writer, items: Any) -> bytes:
    out: list[bytes] = []
    for item in items:
        body = write(item)
        size = len(body)
        out += (head, ONE_BYTE[size] if size < 0x80 else varint(size), body)
    return b"".join(out)


def _map(head: bytes, write: Writer, items: Any) -> bytes:
    out: list[bytes] = []
    for name, item in sorted(items.items()):
        if item.__class__ is str and write is _text:
            made = _text_entry if len(name) + len(item) <= _LONGEST_REMEMBERED else _text_entry.__wrapped__
            out += (head, made(name, item))
        else:
            out += (head, _entry(name, write(item)))
    return b"".join(out)


@lru_cache(maxsize=4096)
def _text_entry(name: str, item: str) -> bytes:
    """Write an entry of two texts with its length: labels and selectors, which many objects share."""
    return _entry(name, item.encode())


def _entry(name: str, value: bytes) -> bytes:
    key = name.encode()
    entry = b"".join((_KEY, varint(len(key)), key, _VALUE, varint(len(value)), value))
    return varint(len(entry)) + entry


_LONGEST_REMEMBERED = 64
"""Characters of an entry of a map that is remembered."""

_KEY, _VALUE = tag(1, BYTES), tag(2, BYTES)
