"""From protobuf to JSON: readers of messages, compiled from schemas when a message is first met.

A reader returns what `CompiledSchema.decode` would make of the same object in JSON: members in declared order, empty
ones left out or filled in as the field says. So a body in protobuf is walked once. A reader is one loop over the tags
that came, which reads most members on the spot: a call costs as much as the reading of a short string.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

import orjson
from hyperkube_lib.protobuf.wire import BYTES, WireError, read_length, read_varint, skip
from hyperkube_lib.protobuf.wire_scalars import (
    INTEGERS,
    NUMBERS,
    READERS,
    REMEMBERED,
    read_number,
    read_resource_value,
)

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.convert import in_order, zero_of
from hyperkube.machinery.schema.fields import Inline, KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import codec_of, members, rebuilder, zeros_of

Reader = Callable[[bytes, int, int], Any]
"""Reads the bytes between two offsets; None is the zero value."""

Merge = Callable[[Object, bytes, int, int], bool]
"""Reads the bytes between two offsets into an object; tells whether what it adds to is out of order now."""

_LONGEST_REMEMBERED = 64
"""Bytes of a scalar that is remembered: quantities and names may have any length."""


class _Form(Enum):
    """How a member is read."""

    TEXT = "a string"
    VALUE = "a message, or bytes"
    VALUES = "one item of a list"
    SCALAR = "a message that is a scalar in JSON, remembered"
    NUMBER = "a number or boolean"
    NUMBERS = "one of a list of them"
    MERGED = "a message that adds to what was read: an entry of a map, members of an embedded struct, packed numbers"


_TEXT, _VALUE, _VALUES = _Form.TEXT, _Form.VALUE, _Form.VALUES
_SCALAR, _MERGED = _Form.SCALAR, _Form.MERGED
_INLINED = -2
"""The place of a message that adds members anywhere: they are brought in order afterwards."""


class _Member(NamedTuple):
    """What one tag stands for.

    Attributes:
        place: where the member is declared; what comes in another order is brought in this one afterwards.
        keeps: whether it is written when it is empty.
        read: what reads the value: a `MessageReader` or `_Plain` of `VALUE` and `VALUES`, a function of the bytes of
            `SCALAR`, a `Merge` of `MERGED`; the name of the scalar of `NUMBER` and `NUMBERS`.
    """

    form: _Form
    place: int
    name: str
    keeps: bool
    read: Any


class MessageReader:
    """Reads messages of one schema, and of all below it.

    Attributes:
        read: ``(data, at, end)`` → the canonical object of the message between two offsets. Raises `WireError` or
            `IndexError` where the bytes are no message of the schema, and `DecodeError` for a quantity that is none.
    """

    __slots__ = ("_readers", "_schema", "read")

    def __init__(self, schema: type[KubeSchema], readers: dict[type[KubeSchema], MessageReader]) -> None:
        self._schema = schema
        self._readers = readers
        self.read: Reader = self._compile_and_read

    def _compile_and_read(self, data: bytes, at: int, end: int) -> Any:
        schema = self._schema
        places = {name: place for place, name in enumerate(_members(schema))}
        tags: dict[int, _Member] = {}
        for field in schema.declared().values():
            if field.number and (field.json_name in places or isinstance(field, Inline)):
                place = places.get(field.json_name, _INLINED)
                tags |= {tag: _Member(form, place, *rest) for tag, (form, *rest) in self._of_field(field).items()}
        zeros = {} if schema.shape else zeros_of(schema)
        read = _loop(tags.get, tuple(zeros), _rebuilder(_members(schema), zeros))
        if schema.shape:
            read = _shaped(schema.shape, read)
        self.read = _once(read) if schema.templated else read
        return self.read(data, at, end)

    def _below(self, field: Struct) -> MessageReader:
        schema = field.schema()
        reader = self._readers.get(schema)
        if reader is None:
            reader = self._readers[schema] = MessageReader(schema, self._readers)
        return reader

    def _of_field(self, field: KubeField) -> dict[int, tuple[_Form, str, bool, Any]]:
        """Return what a field's tags stand for; a list of numbers has two: it may be packed."""
        name, scalar, delimited = field.json_name, field.scalar, field.number << 3 | BYTES
        if isinstance(field, Inline):
            return {delimited: (_MERGED, name, True, _inline(self._below(field)))}
        if isinstance(field, Map):
            value = self._value(field.items, is_resource=field.typedef.endswith("ResourceList"))
            return {delimited: (_MERGED, name, True, _entry(name, value, zero_of(field.items, codec_of)))}
        if isinstance(field, List):
            return self._of_list(field)
        required = name in zeros_of(self._schema)
        if scalar in NUMBERS:
            return {field.number << 3 | NUMBERS[scalar]: (_Form.NUMBER, name, field.ptr or required, scalar)}
        if scalar == "string":
            return {delimited: (_TEXT, name, field.ptr or required, None)}
        if scalar in REMEMBERED:
            return {delimited: (_SCALAR, name, required, REMEMBERED[scalar])}
        return {delimited: (_VALUE, name, required, self._value(field))}

    def _of_list(self, field: List) -> dict[int, tuple[_Form, str, bool, Any]]:
        name, scalar, delimited = field.json_name, field.items.scalar, field.number << 3 | BYTES
        if field.wrapper:
            return {delimited: (_VALUE, name, not field.omitempty, _Plain(_wrapped))}
        if scalar in NUMBERS:
            return {
                field.number << 3 | NUMBERS[scalar]: (_Form.NUMBERS, name, True, scalar),
                delimited: (_MERGED, name, True, _packed(name, scalar)),
            }
        return {delimited: (_VALUES, name, True, self._value(field.items))}

    def _value(self, field: KubeField, *, is_resource: bool = False) -> MessageReader | _Plain | None:
        """Return what reads a value with a length of its own; None for strings, which are read in place."""
        if isinstance(field, Struct):
            return self._below(field)
        if isinstance(field, List):
            return _Plain(_wrapped)
        if field.scalar == "string":
            return None
        if field.scalar in REMEMBERED:
            return _Plain(_remembering(read_resource_value if is_resource else REMEMBERED[field.scalar]))
        convert = READERS[field.scalar]
        return _Plain(lambda data, at, end: convert(data[at:end]))


class _Plain:
    """Reads what is no message of a schema."""

    __slots__ = ("read",)

    def __init__(self, read: Reader) -> None:
        self.read = read


def _members(schema: type[KubeSchema]) -> Mapping[str, KubeField]:
    """Return the members of a message by name; those of a part that may be something simpler are not shown in JSON."""
    return {field.json_name: field for field in schema.declared().values()} if schema.shape else members(schema)


def _rebuilder(fields: Mapping[str, KubeField], zeros: Mapping[str, Callable[[], Any]]) -> Callable[[Object], Object]:
    """Return what adds the members that are always written, and brings all members and the entries of maps in order."""
    rebuild = rebuilder(fields, zeros)
    maps = [name for name, field in fields.items() if isinstance(field, Map)]

    def rebuild_all(out: Object) -> Object:
        for name in maps:
            if name in out:
                out[name] = in_order(out[name])
        return rebuild(out, [])

    return rebuild_all


def _loop(  # noqa: C901 -- one loop, as calls are what costs
    find: Callable[[int], _Member | None],
    required: Sequence[str],
    rebuild: Callable[[Object], Object],
) -> Reader:
    """Return the reader of a message; `rebuild` adds what is required and brings all in order."""

    def read(data: bytes, at: int, end: int) -> Object:  # noqa: C901, PLR0912 -- the same
        out: Object = {}
        last, is_ordered = -1, True
        while at < end:
            tag = data[at]
            at += 1
            if tag >= 0x80:  # of two bytes, mostly
                tag, at = tag - 0x80 + (data[at] << 7), at + 1
                if tag >= 0x4000:
                    tag, at = read_varint(data, at - 2)
            member = find(tag)
            if member is None:
                at = skip(data, at, end, tag & 7)
                continue
            form, place, name, keeps, convert = member
            is_ordered, last = is_ordered and place >= last, place
            if tag & 7 != BYTES:
                at = _read_number(member, out, data, at)
                continue
            size, start = data[at], at + 1
            if size >= 0x80:
                size, start = size - 0x80 + (data[start] << 7), start + 1
                if size >= 0x4000:
                    size, start = read_varint(data, at)
            at = start + size
            if at > end:
                raise WireError("unexpected EOF")
            if form is _TEXT:
                if size or keeps:
                    out[name] = data[start:at].decode("utf-8", "replace")
                elif name in out:
                    del out[name]
            elif form is _VALUES:
                value = data[start:at].decode("utf-8", "replace") if convert is None else convert.read(data, start, at)
                out.setdefault(name, []).append(value)
            elif form is _MERGED:
                is_ordered = not convert(out, data, start, at) and is_ordered
            else:
                if form is _VALUE:
                    value = convert.read(data, start, at)
                else:
                    value = (convert if size <= _LONGEST_REMEMBERED else convert.__wrapped__)(data[start:at])
                if value is not None or keeps:
                    out[name] = value
        if at > end:
            raise WireError("unexpected EOF")
        for name in required:
            if name not in out:
                return rebuild(out)
        return out if is_ordered else rebuild(out)

    return read


def _read_number(member: _Member, out: Object, data: bytes, at: int) -> int:
    """Read a number or boolean into its object, and return the offset after it."""
    form, _place, name, keeps, scalar = member
    value: Any = data[at]
    if value < 0x80 and scalar in INTEGERS:
        value, at = value != 0 if scalar == "bool" else value, at + 1
    else:
        value, at = read_number(scalar, data, at)
    if form is _Form.NUMBERS:
        out.setdefault(name, []).append(value)
    elif value or keeps:
        out[name] = value
    else:
        out.pop(name, None)
    return at


def _once(read: Reader) -> Reader:
    """Return a reader that knows what came of the latest messages: to read that is a quarter of the work."""
    latest: Recent[bytes, bytes] = Recent(TEMPLATES)

    def read_once(data: bytes, at: int, end: int) -> Any:
        if end - at > TEMPLATE_MAX:
            return read(data, at, end)
        message = data[at:end]
        known = latest.get(message)
        if known is not None:
            return orjson.loads(known)
        value = read(data, at, end)
        latest.keep(message, orjson.dumps(value))
        return value

    return read_once


def _shaped(shape: str, read: Reader) -> Reader:
    """Return the reader of a part of a JSON schema that is an object or something simpler."""

    def read_shaped(data: bytes, at: int, end: int) -> Any:
        fields = read(data, at, end)
        if fields.get("schema") is not None:
            return fields["schema"]
        if shape == "bool":
            return fields.get("allows", False)
        return fields.get("jSONSchemas") or fields.get("property") or []

    return read_shaped


def _remembering(convert: Any) -> Reader:
    """Return the reader of a scalar that is remembered unless it is long."""

    def read(data: bytes, at: int, end: int) -> Any:
        piece = data[at:end]
        return convert(piece) if end - at <= _LONGEST_REMEMBERED else convert.__wrapped__(piece)

    return read


def _wrapped(data: bytes, at: int, end: int) -> list[str]:
    """Read a list of strings that is a message with field 1 repeated."""
    items: list[str] = []
    while at < end:
        key, at = read_varint(data, at)
        if key == (1 << 3 | BYTES):
            start, at = read_length(data, at, end)
            items.append(data[start:at].decode("utf-8", "replace"))
        else:
            at = skip(data, at, end, key & 7)
    return items


def _inline(reader: MessageReader) -> Merge:
    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        out |= reader.read(data, at, end)
        return False  # its place says so already

    return merge


def _packed(name: str, scalar: str) -> Merge:
    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        items = out.setdefault(name, [])
        while at < end:
            value, at = read_number(scalar, data, at)
            items.append(value)
        return False

    return merge


def _entry(name: str, values: MessageReader | _Plain | None, zero: Callable[[], Any]) -> Merge:
    """Read one entry of a map: a message with the key as field 1 and the value as field 2."""
    key_tag, value_tag = 1 << 3 | BYTES, 2 << 3 | BYTES

    def merge(out: Object, data: bytes, at: int, end: int) -> bool:
        key, value = "", None
        while at < end:
            tag, start = data[at], at + 2
            at = start + data[at + 1]
            if tag not in (key_tag, value_tag) or at - start >= 0x80 or at > end:
                tag, at = read_varint(data, start - 2)
                if tag & 7 != BYTES:
                    at = skip(data, at, end, tag & 7)
                    continue
                start, at = read_length(data, at, end)
            if tag == key_tag:
                key = data[start:at].decode("utf-8", "replace")
            elif tag == value_tag:
                value = data[start:at].decode("utf-8", "replace") if values is None else values.read(data, start, at)
        if value is None:
            value = zero()
        entries = out.setdefault(name, {})
        is_out_of_order = bool(entries) and key < next(reversed(entries))  # Go writes them in order
        entries[key] = value
        return is_out_of_order

    return merge
