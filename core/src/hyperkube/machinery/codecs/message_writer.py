"""From JSON to protobuf: writers of messages, compiled from schemas when a message is first met.

Gogo's rules: every field that is no pointer, list or map is written, zero values and empty messages included; fields in
the order of their numbers; maps in the order of their keys; nothing is packed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hyperkube.machinery.codecs.wire import BYTES, ONE_BYTE, delimited, tag, varint
from hyperkube.machinery.codecs.wire_scalars import NUMBERS, WRITERS, write_number
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import Inline, KubeField, List, Map, Struct

Writer = Callable[[Any], bytes]
"""Returns the bytes of a value, without tag and length."""

Part = Callable[[Any], bytes]
"""Returns a field's bytes for a value that is there, or for the whole object where the field is embedded."""


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
        self._members: dict[str, tuple[int, Part | None, bytes]] = {}
        self._embedded: list[tuple[int, Part]] = []
        self._latest: Recent[bytes, bytes] | None = Recent(TEMPLATES) if schema.templated else None

    @property
    def writes(self) -> Writer:
        """What writes an object: `write`, without the call in between where no template is remembered."""
        return self._write if self._latest is None else self.write

    def write(self, value: Any) -> bytes:
        """Return the message of an object; None is the zero value."""
        if self._latest is None or not value:
            return self._write(value)
        key = orjson.dumps(value)
        message = self._latest.get(key)
        if message is None:
            message = self._write(value)
            if len(key) <= TEMPLATE_MAX:
                self._latest.keep(key, message)
        return message

    def _write(self, value: Any) -> bytes:
        obj = _unshaped(self._shape, value) if self._shape else value or {}
        if self._zeros is None:
            self._compile()
        out, members = self._zeros.copy(), self._members  # type: ignore[union-attr]  # compiled above
        for name, item in obj.items():
            if item is not None and (found := members.get(name)) is not None:
                place, part, head = found
                if part is not None:
                    out[place] = part(item)
                    continue
                body = item.encode()  # most members are strings: no call for them
                size = len(body)
                out[place] = head + (ONE_BYTE[size] if size < 0x80 else varint(size)) + body
        for place, part in self._embedded:
            out[place] = part(obj)
        return b"".join(out)

    def _compile(self) -> None:
        """Lay out the fields in the order of their numbers."""
        fields = sorted((field for field in self._schema.declared().values() if field.number), key=_number)
        zeros = []
        for place, field in enumerate(fields):
            if isinstance(field, Inline):
                self._embedded.append((place, _framed(field.number, self._value(field))))
                zeros.append(b"")
                continue
            part, zero = self._part(field)
            plain = part is not None and field.scalar == "string" and not isinstance(field, List | Map)
            self._members[field.json_name] = (place, None if plain else part, tag(field.number, BYTES))
            zeros.append(zero)
        self._zeros = zeros

    def _of(self, field: Struct) -> MessageWriter:
        schema = field.schema()
        writer = self._writers.get(schema)
        if writer is None:
            writer = self._writers[schema] = MessageWriter(schema, self._writers)
        return writer

    def _part(self, field: KubeField) -> tuple[Part, bytes]:
        """Return what writes a field, and its bytes in an object that does not have it."""
        if isinstance(field, Map):
            return _map(field.number, self._value(field.items)), b""
        if isinstance(field, List):
            if field.wrapper:
                return _framed(field.number, _wrapped), b""
            if field.items.scalar in NUMBERS:
                return _numbers(field), b""
            return _repeated(field, self._value(field.items)), b""
        if field.scalar in NUMBERS:
            part = _numeric(field)
            return part, b"" if field.ptr else part(None)
        part = _text(field.number) if field.scalar == "string" else _framed(field.number, self._value(field))
        return part, b"" if field.ptr or field.scalar == "bytes" else part(None)

    def _value(self, field: KubeField) -> Writer:
        if isinstance(field, Struct):
            return self._of(field).writes
        if isinstance(field, List):
            return _wrapped
        return WRITERS[field.scalar]


def _number(field: KubeField) -> int:
    return field.number


def _unshaped(shape: str, value: Any) -> Object:
    """Return the fields of a part of a JSON schema that is an object or something else."""
    if isinstance(value, dict):
        return {"allows": True, "schema": value}
    if shape == "bool":
        return {"allows": bool(value)}
    return {"jSONSchemas": value, "property": value}


def _wrapped(value: Any) -> bytes:
    return b"".join(delimited(1, item.encode()) for item in value or ())


def _framed(number: int, write: Writer) -> Part:
    head = tag(number, BYTES)

    def part(value: Any) -> bytes:
        body = write(value)
        size = len(body)
        return head + (ONE_BYTE[size] if size < 0x80 else varint(size)) + body

    return part


def _text(number: int) -> Part:
    """Return what most fields need, without a call in between."""
    head = tag(number, BYTES)

    def part(value: Any) -> bytes:
        body = value.encode() if value else b""
        return head + varint(len(body)) + body

    return part


def _numeric(field: KubeField) -> Part:
    scalar = field.scalar
    head = tag(field.number, NUMBERS[scalar])
    return lambda value: head + write_number(scalar, value)


def _numbers(field: List) -> Part:
    scalar = field.items.scalar
    head = tag(field.number, NUMBERS[scalar])
    return lambda items: b"".join([head + write_number(scalar, item) for item in items])


def _repeated(field: List, write: Writer) -> Part:
    part = _framed(field.number, write)
    return lambda items: b"".join([part(item) for item in items])


def _map(number: int, write: Writer) -> Part:
    head, key_head, item_head = tag(number, BYTES), tag(1, BYTES), tag(2, BYTES)

    def part(items: Any) -> bytes:
        out: list[bytes] = []
        for name, item in sorted(items.items()):
            key, value = name.encode(), write(item)
            entry = b"".join((key_head, varint(len(key)), key, item_head, varint(len(value)), value))
            out += (head, varint(len(entry)), entry)
        return b"".join(out)

    return part
