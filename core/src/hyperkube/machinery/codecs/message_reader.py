"""From protobuf to JSON: readers of messages, compiled from schemas when a message is first met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from hyperkube.machinery.codecs.wire import BYTES, read_length, read_varint, skip
from hyperkube.machinery.codecs.wire_scalars import NUMBERS, READERS, read_number, text
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import Inline, KubeField, List, Map, Struct

Handler = Callable[[Object, bytes, int, int], int]
"""Reads a field's value at an offset into an object, and returns the offset after it."""

Reader = Callable[[bytes, int, int], Any]
"""Reads the bytes between two offsets."""


class MessageReader:
    """Reads messages of one schema, and of all below it.

    What it returns lacks zero values of members that are no pointers, which Go writes all the same; a schema's `decode`
    makes it canonical.
    """

    def __init__(self, schema: type[KubeSchema], readers: dict[type[KubeSchema], MessageReader]) -> None:
        self._schema = schema
        self._readers = readers
        self._handlers: dict[int, Handler | str] | None = None
        self._latest: Recent[bytes, bytes] | None = Recent(TEMPLATES) if schema.templated else None

    @property
    def reads(self) -> Reader:
        """What reads a message: `read`, without the call in between where no template is remembered."""
        return self._read if self._latest is None else self.read

    def read(self, data: bytes, at: int, end: int) -> Any:
        """Return the object of the message between two offsets.

        Raises:
            WireError: the bytes are no message of the schema.
        """
        if self._latest is None or end - at > TEMPLATE_MAX:
            return self._read(data, at, end)
        message = data[at:end]
        known = self._latest.get(message)
        if known is not None:
            return orjson.loads(known)
        out = self._read(data, at, end)
        self._latest.keep(message, orjson.dumps(out))
        return out

    def _read(self, data: bytes, at: int, end: int) -> Any:
        out: Object = {}
        self.read_into(out, data, at, end)
        return _shaped(self._schema, out) if self._schema.shape else out

    def read_into(self, out: Object, data: bytes, at: int, end: int) -> None:
        """Read a message into an object that may have members already."""
        handlers = self._handlers
        if handlers is None:
            handlers = self._handlers = self._compile()
        while at < end:
            key = data[at]
            at += 1
            if key >= 0x80:
                key, at = read_varint(data, at - 1)
            handler = handlers.get(key)
            if handler.__class__ is str:  # most members are strings, and most strings are short: no call for them
                start = at + 1
                stop = start + data[at] if at < end else end + 1
                if stop > end or stop - start >= 0x80:
                    start, stop = read_length(data, at, end)
                if stop > start:
                    out[handler] = data[start:stop].decode("utf-8", "replace")
                at = stop
            elif handler is None:
                at = skip(data, at, end, key & 7)
            else:
                at = handler(out, data, at, end)  # type: ignore[operator]  # the name of a string is above

    def _of(self, field: Struct) -> MessageReader:
        schema = field.schema()
        reader = self._readers.get(schema)
        if reader is None:
            reader = self._readers[schema] = MessageReader(schema, self._readers)
        return reader

    def _compile(self) -> dict[int, Handler | str]:
        handlers: dict[int, Handler | str] = {}
        for field in self._schema.declared().values():
            if field.number:
                handlers |= self._handlers_of(field)
        return handlers

    def _handlers_of(self, field: KubeField) -> Mapping[int, Handler | str]:
        """Return the handlers of a field by tag, of a string its name; a list of numbers has two: it may be packed."""
        delimited = field.number << 3 | BYTES
        if isinstance(field, Inline):
            return {delimited: _inline(self._of(field))}
        if isinstance(field, Map):
            return {delimited: _map(field.json_name, self._value(field.items))}
        if isinstance(field, List):
            if field.wrapper:
                return {delimited: _single(field.json_name, _wrapped)}
            wire_type = NUMBERS.get(field.items.scalar)
            if wire_type is not None:
                name, scalar = field.json_name, field.items.scalar
                return {field.number << 3 | wire_type: _numbers(name, scalar), delimited: _packed(name, scalar)}
            return {delimited: _repeated(field.json_name, self._value(field.items))}
        wire_type = NUMBERS.get(field.scalar)
        if wire_type is not None:
            return {field.number << 3 | wire_type: _number(field)}
        if field.scalar == "string":
            return {delimited: _single(field.json_name, _text) if field.ptr else field.json_name}
        return {delimited: _single(field.json_name, self._value(field))}

    def _value(self, field: KubeField) -> Reader:
        if isinstance(field, Struct):
            return self._of(field).reads
        if isinstance(field, List):
            return _wrapped
        if field.scalar == "string":
            return _text
        convert = READERS[field.scalar]
        return lambda data, at, end: convert(data[at:end])


def _shaped(schema: type[KubeSchema], fields: Object) -> Any:
    """Return what a part of a JSON schema that is an object or something else stands for."""
    if fields.get("schema") is not None:
        return fields["schema"]
    if schema.shape == "bool":
        return fields.get("allows", False)
    return fields.get("jSONSchemas") or fields.get("property") or []


def _wrapped(data: bytes, at: int, end: int) -> list[str]:
    """Read a list of strings that is a message with field 1 repeated."""
    items: list[str] = []
    while at < end:
        key, at = read_varint(data, at)
        if key == (1 << 3 | BYTES):
            start, at = read_length(data, at, end)
            items.append(text(data[start:at]))
        else:
            at = skip(data, at, end, key & 7)
    return items


def _text(data: bytes, at: int, end: int) -> str:
    return data[at:end].decode("utf-8", "replace")


def _single(name: str, read: Reader) -> Handler:
    def handle(out: Object, data: bytes, at: int, end: int) -> int:
        start, stop = read_length(data, at, end)
        out[name] = read(data, start, stop)
        return stop

    return handle


def _repeated(name: str, read: Reader) -> Handler:
    def handle(out: Object, data: bytes, at: int, end: int) -> int:
        start, stop = read_length(data, at, end)
        out.setdefault(name, []).append(read(data, start, stop))
        return stop

    return handle


def _inline(reader: MessageReader) -> Handler:
    def handle(out: Object, data: bytes, at: int, end: int) -> int:
        start, stop = read_length(data, at, end)
        reader.read_into(out, data, start, stop)
        return stop

    return handle


def _number(field: KubeField) -> Handler:
    name, scalar, ptr = field.json_name, field.scalar, field.ptr

    def handle(out: Object, data: bytes, at: int, _end: int) -> int:
        value, at = read_number(scalar, data, at)
        if value or ptr:
            out[name] = value
        return at

    return handle


def _numbers(name: str, scalar: str) -> Handler:
    def handle(out: Object, data: bytes, at: int, _end: int) -> int:
        value, at = read_number(scalar, data, at)
        out.setdefault(name, []).append(value)
        return at

    return handle


def _packed(name: str, scalar: str) -> Handler:
    def handle(out: Object, data: bytes, at: int, end: int) -> int:
        at, stop = read_length(data, at, end)
        items = out.setdefault(name, [])
        while at < stop:
            value, at = read_number(scalar, data, at)
            items.append(value)
        return stop

    return handle


def _map(name: str, read: Reader) -> Handler:
    """Read one entry of a map: a message with the key as field 1 and the value as field 2."""

    def handle(out: Object, data: bytes, at: int, end: int) -> int:
        at, stop = read_length(data, at, end)
        key = ""
        value: Any = None
        while at < stop:
            field, at = (data[at], at + 1) if data[at] < 0x80 else read_varint(data, at)
            if field == (1 << 3 | BYTES):
                start, at = read_length(data, at, stop)
                key = data[start:at].decode("utf-8", "replace")
            elif field == (2 << 3 | BYTES):
                start, at = read_length(data, at, stop)
                value = read(data, start, at)
            else:
                at = skip(data, at, stop, field & 7)
        out.setdefault(name, {})[key] = value
        return stop

    return handle
