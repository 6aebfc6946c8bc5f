"""From protobuf to JSON: readers of messages, compiled from schemas when a message is first met.

A reader returns what `CompiledSchema.decode` would make of the same object in JSON: members in declared order, empty
ones left out or filled in as the field says. So a body in protobuf is walked once. A reader is one loop over the tags
that came, which reads most members on the spot: a call costs as much as the reading of a short string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import orjson
from hyperkube_lib.protobuf.message_members import INLINED, TIMES, Form, Member
from hyperkube_lib.protobuf.message_parts import (
    LONGEST_REMEMBERED,
    Plain,
    Reader,
    entry,
    inlined,
    packed,
    read_strings,
    remembering,
)
from hyperkube_lib.protobuf.message_writer import MessageWriter
from hyperkube_lib.protobuf.straight_reader import straight_reader
from hyperkube_lib.protobuf.wire import BYTES, VARINT, WireError, read_varint, skip, varint
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

_TEXT, _VALUE, _VALUES = Form.TEXT, Form.VALUE, Form.VALUES
_SCALAR, _MERGED = Form.SCALAR, Form.MERGED
_FIRST_TEXT, _ONE_BYTE, _SHORTEST = 1 << 3 | BYTES, 0x80, 2
"""The tag of a text that is field 1, from where on a length has more than one byte, and the bytes of the two."""
MANY = 20
"""Messages of a schema after which straight code is generated for the next ones: most schemas never meet as many."""

_Find = Callable[[int], Member | None]
_Rebuild = Callable[[Object], Object]


class MessageReader:
    """Reads messages of one schema, and of all below it.

    Args:
        schema: of the messages.
        kept: the readers and writers of all schemas so far.

    Attributes:
        read: ``(data, at, end)`` → the canonical object of the message between two offsets. Raises `WireError` or
            `IndexError` where the bytes are no message of the schema, and `DecodeError` for a quantity that is none.
        zero: the message that Go writes for a struct in which nothing is set, as it does for each that is no pointer.
        zero_size: its length; -1 where the struct stands behind a pointer, and comes only when something is set.
        zero_json: the object that is read from it.
    """

    __slots__ = ("_kept", "_schema", "read", "zero", "zero_json", "zero_size")

    def __init__(self, schema: type[KubeSchema], kept: Kept) -> None:
        self._schema = schema
        self._kept = kept
        self.read: Reader = self._compile_and_read
        self.zero = self.zero_json = b""
        self.zero_size = -1

    def _compile_and_read(self, data: bytes, at: int, end: int) -> Any:
        schema = self._schema
        places = {name: place for place, name in enumerate(_members(schema))}
        tags: dict[int, Member] = {}
        for field in schema.declared().values():
            if field.number and (field.json_name in places or isinstance(field, Inline)):
                place = places.get(field.json_name, INLINED)
                for tag, (form, name, keeps, read) in self._of_field(field).items():
                    drops = form is _TEXT or (form is Form.NUMBER and read in INTEGERS)
                    tags[tag] = Member(form, drops and not keeps, place, name, keeps, read)
        for tag, unset in _unset_behind(schema, tags).items():
            tags[tag] = tags[tag]._replace(unset=unset)
        zeros = {} if schema.shape else zeros_of(schema)
        rebuild = _rebuilder(_members(schema), zeros)
        loop = _loop(tags.get, tuple(zeros), rebuild)
        if schema.shape:
            self.read = _shaped(schema.shape, loop)
        else:
            self._read_few(loop, lambda: straight_reader(schema, tags, zeros, rebuild, loop))
        return self.read(data, at, end)

    def _read_few(self, loop: Reader, straight: Callable[[], Reader]) -> None:
        """Read some messages by the loop, and all later ones by straight code."""
        own = self._schema.own
        finish: Callable[[Reader], Reader] = lambda read: read  # noqa: E731  one of three
        if self._schema.templated:
            finish = _once
        elif own and self._schema.declared()[own[0]].number == 1:
            finish = partial(_around, own)
        left = self._kept.many

        def read_few(data: bytes, at: int, end: int) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:  # threads may come here at once: both generate the same, and the later one's stays
                self.read = finish(straight())
            return loop(data, at, end)

        self.read = finish(read_few)

    def _below(self, field: Struct) -> MessageReader:
        return self._kept.reader(field.schema())

    def know_zero(self) -> None:
        """Remember the message in which nothing is set, and what it stands for."""
        self.zero = self._kept.writer(self._schema).write({})
        self.zero_json = orjson.dumps(self.read(self.zero, 0, len(self.zero)))
        self.zero_size = len(self.zero)

    def _of_field(self, field: KubeField) -> dict[int, tuple[Form, str, bool, Any]]:
        """Return what a field's tags stand for; a list of numbers has two: it may be packed."""
        name, scalar, delimited = field.json_name, field.scalar, field.number << 3 | BYTES
        if isinstance(field, Inline):
            return {delimited: (_MERGED, name, True, inlined(self._below(field)))}
        if isinstance(field, Map):
            value = self._value(field.items, is_resource=field.typedef.endswith("ResourceList"))
            return {delimited: (_MERGED, name, True, entry(name, value, zero_of(field.items, codec_of)))}
        if isinstance(field, List):
            return self._of_list(field)
        required = name in zeros_of(self._schema)
        if scalar in NUMBERS:
            return {field.number << 3 | NUMBERS[scalar]: (Form.NUMBER, name, field.ptr or required, scalar)}
        if scalar == "string":
            return {delimited: (_TEXT, name, field.ptr or required, None)}
        if scalar in REMEMBERED:
            return {delimited: (_SCALAR, name, required, REMEMBERED[scalar])}
        read = self._value(field)
        if isinstance(read, MessageReader) and not field.ptr and read.zero_size < 0:
            read.know_zero()
        return {delimited: (_VALUE, name, required, read)}

    def _of_list(self, field: List) -> dict[int, tuple[Form, str, bool, Any]]:
        name, scalar, delimited = field.json_name, field.items.scalar, field.number << 3 | BYTES
        if field.wrapper:
            return {delimited: (_VALUE, name, not field.omitempty, Plain(read_strings))}
        if scalar in NUMBERS:
            return {
                field.number << 3 | NUMBERS[scalar]: (Form.NUMBERS, name, True, scalar),
                delimited: (_MERGED, name, True, packed(name, scalar)),
            }
        return {delimited: (_VALUES, name, True, self._value(field.items))}

    def _value(self, field: KubeField, *, is_resource: bool = False) -> MessageReader | Plain | None:
        """Return what reads a value with a length of its own; None for strings, which are read in place."""
        if isinstance(field, Struct):
            return self._below(field)
        if isinstance(field, List):
            return Plain(read_strings)
        if field.scalar == "string":
            return None
        if field.scalar in REMEMBERED:
            return Plain(remembering(read_resource_value if is_resource else REMEMBERED[field.scalar]))
        convert = READERS[field.scalar]
        return Plain(lambda data, at, end: convert(data[at:end]))


class Kept:
    """Readers and writers of the schemas that were met: one each.

    Attributes:
        many: messages of a schema after which it gets straight code.
    """

    def __init__(self, many: int) -> None:
        self.many = many
        self._readers: dict[type[KubeSchema], MessageReader] = {}
        self._writers: dict[type[KubeSchema], MessageWriter] = {}

    def reader(self, schema: type[KubeSchema]) -> MessageReader:
        """Return the reader of a schema, which is compiled with its first message."""
        return self._readers.get(schema) or self._readers.setdefault(schema, MessageReader(schema, self))

    def writer(self, schema: type[KubeSchema]) -> MessageWriter:
        """Return the writer of a schema, which is compiled with its first object."""
        return self._writers.get(schema) or self._writers.setdefault(schema, MessageWriter(schema, self._writers))


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


def _unset_behind(schema: type[KubeSchema], tags: Mapping[int, Member]) -> dict[int, bytes]:
    """Return what may be skipped behind each member of a message (see `Member.unset`), by the member's tag."""
    fields = sorted((field for field in schema.declared().values() if field.number), key=attrgetter("number"))
    found: dict[int, bytes] = {}
    for index, field in enumerate(fields):
        for tag in (field.number << 3 | wire_type for wire_type in (BYTES, VARINT)):
            if tag in tags:
                found[tag] = b"".join(_while_unset(fields[index + 1 :], tags, tags[tag].place))
    return found


def _while_unset(fields: Sequence[KubeField], tags: Mapping[int, Member], place: int) -> Iterator[bytes]:
    """Yield what Go writes for members that are not set, until one for which it would be more than a zero byte."""
    for field in fields:
        if field.ptr or isinstance(field, List | Map) or field.scalar == "bytes":
            continue  # nothing is written for these
        tag = field.number << 3 | NUMBERS.get(field.scalar, BYTES)
        member = tags.get(tag)
        if member is None or member.place < place:
            return
        if not (member.drops or (field.scalar in TIMES and not member.keeps)):
            return
        yield varint(tag) + b"\0"


def _loop(find: _Find, required: Sequence[str], rebuild: _Rebuild) -> Reader:  # noqa: C901, PLR0915 -- calls cost most
    """Return the reader of a message; `rebuild` adds what is required and brings all in order."""

    def read(data: bytes, at: int, end: int) -> Object:  # noqa: C901, PLR0912, PLR0915 -- the same
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
            form, drops, place, name, keeps, convert, unset = member
            size = data[at]
            if drops and not size:
                if name in out:  # the last of two counts, also when it is empty
                    del out[name]
                at += 1
                continue
            if place < last:
                is_ordered = False
            last = place
            if tag & 7 != BYTES:
                at = _read_number(member, out, data, at)
                continue
            start = at + 1
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
            elif form is _VALUES:
                value = data[start:at].decode("utf-8", "replace") if convert is None else convert.read(data, start, at)
                out.setdefault(name, []).append(value)
            elif form is _MERGED:
                is_ordered = not convert(out, data, start, at) and is_ordered
            else:
                value = _read_value(member, data, start, at)
                if value is not None or keeps:
                    out[name] = value
            if unset and is_ordered and data.startswith(unset, at) and at + len(unset) <= end:
                at += len(unset)
        if at > end:
            raise WireError("unexpected EOF")
        for name in required:
            if name not in out:
                return rebuild(out)
        return out if is_ordered else rebuild(out)

    return read


def _read_value(member: Member, data: bytes, start: int, end: int) -> Any:
    """Read a message, bytes, or a scalar that is remembered; None is the zero value."""
    read, size = member.read, end - start
    if member.form is _SCALAR:
        return (read if size <= LONGEST_REMEMBERED else read.__wrapped__)(data[start:end])
    if size == read.zero_size and data.startswith(read.zero, start):
        return orjson.loads(read.zero_json)
    return read.read(data, start, end)


def _read_number(member: Member, out: Object, data: bytes, at: int) -> int:
    """Read a number or boolean into its object, and return the offset after it."""
    form, _drops, _place, name, keeps, scalar, _unset = member
    value: Any = data[at]
    if value < 0x80 and scalar in INTEGERS:
        value, at = value != 0 if scalar == "bool" else value, at + 1
    else:
        value, at = read_number(scalar, data, at)
    if form is Form.NUMBERS:
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


def _around(own: Sequence[str], read: Reader) -> Reader:
    """Return a reader that knows what the latest messages said behind the first of an object's own members, its name.

    New objects have no other. Kept is what comes of the rest by itself, unless the rest has a word on the name, too.
    """
    latest: Recent[bytes, bytes] = Recent(TEMPLATES)
    first = own[0]

    def read_around(data: bytes, at: int, end: int) -> Any:
        if end - at < _SHORTEST or data[at] != _FIRST_TEXT or not 0 < data[at + 1] < _ONE_BYTE:
            return read(data, at, end)
        stop = at + 2 + data[at + 1]
        rest = data[stop:end]
        known = latest.get(rest)
        if known is not None and stop <= end:
            return {first: str(data[at + 2 : stop], "utf-8", "replace"), **orjson.loads(known)}
        value = read(data, at, end)
        if len(rest) <= TEMPLATE_MAX and not any(name in value for name in own[1:]):
            others = read(rest, 0, len(rest))
            if {first: value.get(first), **others} == value:
                latest.keep(rest, orjson.dumps(others))
        return value

    return read_around


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
