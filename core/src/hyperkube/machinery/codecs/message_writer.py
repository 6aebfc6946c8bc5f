"""From JSON to protobuf: writers of messages, compiled from schemas when a message is first met.

Gogo's rules: every field that is no pointer, list or map is written, zero values and empty messages included; fields in
the order of their numbers; maps in the order of their keys; nothing is packed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperkube.machinery.codecs.wire import BYTES, delimited, tag, varint
from hyperkube.machinery.codecs.wire_scalars import NUMBERS, WRITERS, write_number
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import Inline, KubeField, List, Map, Struct

Part = Callable[[Object, list[bytes]], None]
"""Appends the bytes of one field of an object."""

Writer = Callable[[Any], bytes]
"""Returns the bytes of a value, without tag and length."""


class MessageWriter:
    """Writes objects of one schema, and of all below it."""

    def __init__(self, schema: type[KubeSchema], writers: dict[type[KubeSchema], MessageWriter]) -> None:
        self._schema = schema
        self._writers = writers
        self._parts: list[Part] | None = None

    def write(self, value: Any) -> bytes:
        """Return the message of an object; None is the zero value."""
        obj = _unshaped(self._schema, value) if self._schema.shape else value or {}
        if self._parts is None:
            fields = sorted((field for field in self._schema.declared().values() if field.number), key=_number)
            self._parts = [self._part(field) for field in fields]
        out: list[bytes] = []
        for part in self._parts:
            part(obj, out)
        return b"".join(out)

    def _of(self, field: Struct) -> MessageWriter:
        schema = field.schema()
        writer = self._writers.get(schema)
        if writer is None:
            writer = self._writers[schema] = MessageWriter(schema, self._writers)
        return writer

    def _part(self, field: KubeField) -> Part:
        if isinstance(field, Inline):
            return _inline(field.number, self._of(field))
        if isinstance(field, Map):
            return _map(field, self._value(field.items))
        if isinstance(field, List):
            if field.wrapper:
                return _optional(field, _wrapped)
            if field.items.scalar in NUMBERS:
                return _numbers(field)
            return _repeated(field, self._value(field.items))
        if field.scalar in NUMBERS:
            return _numeric(field)
        write = self._value(field)
        return _optional(field, write) if field.ptr or field.scalar == "bytes" else _always(field, write)

    def _value(self, field: KubeField) -> Writer:
        if isinstance(field, Struct):
            return self._of(field).write
        if isinstance(field, List):
            return _wrapped
        return WRITERS[field.scalar]


def _number(field: KubeField) -> int:
    return field.number


def _unshaped(schema: type[KubeSchema], value: Any) -> Object:
    """Return the fields of a part of a JSON schema that is an object or something else."""
    if isinstance(value, dict):
        return {"allows": True, "schema": value}
    if schema.shape == "bool":
        return {"allows": bool(value)}
    return {"jSONSchemas": value, "property": value}


def _wrapped(value: Any) -> bytes:
    return b"".join(delimited(1, item.encode()) for item in value or ())


def _optional(field: KubeField, write: Writer) -> Part:
    name = field.json_name
    head = tag(field.number, BYTES)

    def part(obj: Object, out: list[bytes]) -> None:
        value = obj.get(name)
        if value is not None:
            body = write(value)
            out += (head, varint(len(body)), body)

    return part


def _always(field: KubeField, write: Writer) -> Part:
    name = field.json_name
    head = tag(field.number, BYTES)

    def part(obj: Object, out: list[bytes]) -> None:
        body = write(obj.get(name))
        out += (head, varint(len(body)), body)

    return part


def _inline(number: int, writer: MessageWriter) -> Part:
    head = tag(number, BYTES)

    def part(obj: Object, out: list[bytes]) -> None:
        body = writer.write(obj)
        out += (head, varint(len(body)), body)

    return part


def _numeric(field: KubeField) -> Part:
    name, scalar, optional = field.json_name, field.scalar, field.ptr
    head = tag(field.number, NUMBERS[scalar])

    def part(obj: Object, out: list[bytes]) -> None:
        value = obj.get(name)
        if value is not None or not optional:
            out += (head, write_number(scalar, value))

    return part


def _numbers(field: List) -> Part:
    name, scalar = field.json_name, field.items.scalar
    head = tag(field.number, NUMBERS[scalar])

    def part(obj: Object, out: list[bytes]) -> None:
        for item in obj.get(name) or ():
            out += (head, write_number(scalar, item))

    return part


def _repeated(field: List, write: Writer) -> Part:
    name = field.json_name
    head = tag(field.number, BYTES)

    def part(obj: Object, out: list[bytes]) -> None:
        for item in obj.get(name) or ():
            body = write(item)
            out += (head, varint(len(body)), body)

    return part


def _map(field: Map, write: Writer) -> Part:
    name = field.json_name
    head = tag(field.number, BYTES)

    def part(obj: Object, out: list[bytes]) -> None:
        for key, item in sorted((obj.get(name) or {}).items()):
            entry = delimited(1, key.encode()) + delimited(2, write(item))
            out += (head, varint(len(entry)), entry)

    return part
