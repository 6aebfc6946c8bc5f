"""Messages of new objects that are metadata and maps of texts, such as ConfigMaps: data are answered as they came.

That holds for data which are written as Go writes them: keys in their order, lengths in the fewest bytes, sound UTF-8,
nothing that the schema does not know. So an `EchoedKind` reads no other; what is not so is left to the readers of all
messages, which decide. Metadata are written anew: of a template that came before, they are pieces of the latest message
with the texts between them that each object has of its own.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import orjson
from hyperkube_host.apiserver.resources.echo import Echo
from hyperkube_host.apiserver.resources.meta_types import meta_schema
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES, Recurring
from hyperkube_host.apiserver.serializer.template_messages import TemplateMetadata
from hyperkube_lib.protobuf import ENVELOPE_TAIL, Protobuf, envelope_head
from hyperkube_lib.protobuf.wire import BYTES, VARINT, delimited, tag, varint

from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema
from hyperkube.machinery.schema.fields import KubeField, Map, Struct

_FIRST, _SECOND = tag(1, BYTES), tag(2, BYTES)
_KEY, _VALUE, _NAME, _METADATA = _FIRST[0], _SECOND[0], _FIRST[0], _FIRST[0]
_TAIL_SIZE = len(ENVELOPE_TAIL)
_ONE_BYTE, _TWO_BYTES = 0x80, 0x4000
"""From here on a length, or a tag, has more than one byte, and more than two: no longer bodies are read."""
_READERS: dict[str, Callable[[bytes], Any]] = {
    "string": bytes.decode,
    "bytes": lambda data: base64.b64encode(data).decode(),
}
"""What reads the values of maps, by their scalar."""
_NOT_SO = "not written as Go writes it"


class _Template(NamedTuple):
    """What is known of metadata that differ in nothing but the name.

    Attributes:
        text: the JSON of what they come to, without the name.
        message: writes bodies with them, and with all that the server has added.
    """

    text: bytes
    message: TemplateMetadata


def echoed_kind(kind: GroupVersionKind, codec: object, protobuf: Protobuf) -> EchoedKind | None:
    """Return what reads bodies with objects of a kind, None where it has other members than metadata and such maps."""
    if not isinstance(codec, CompiledSchema):
        return None
    fields: dict[int, KubeField] = {}
    for field in codec.schema.declared().values():
        if isinstance(field, Map):
            is_read = field.items.scalar in _READERS
        else:
            is_read = field.number <= 1 or (field.scalar == "bool" and field.ptr)
        if not is_read:
            return None
        if field.number:
            fields[field.number << 3 | (VARINT if field.scalar == "bool" else BYTES)] = field
    metadata = fields.pop(_METADATA, None)
    is_plain = isinstance(metadata, Struct) and not metadata.ptr and max(fields, default=_ONE_BYTE) < _ONE_BYTE
    return EchoedKind(kind, [*codec.schema.declared()], fields, protobuf) if is_plain else None


class EchoedKind:
    """Reads bodies with objects of one kind, and writes them once more.

    Args:
        kind: of the objects.
        order: all members as they are declared.
        fields: those behind the metadata, by their tags.
        protobuf: reads and writes metadata.
    """

    def __init__(
        self, kind: GroupVersionKind, order: list[str], fields: dict[int, KubeField], protobuf: Protobuf
    ) -> None:
        self._head = envelope_head(kind.api_version, kind.kind) + _SECOND
        self._kind = kind
        self._protobuf = protobuf
        self._schema = meta_schema("ObjectMeta")
        self._names = {"kind": kind.kind, "apiVersion": kind.api_version}
        self._order = order
        self._fields = {
            number: (field.json_name, _READERS[field.items.scalar] if isinstance(field, Map) else None)
            for number, field in fields.items()
        }
        self._templates: Recurring[bytes, _Template] = Recurring(BUSY_TEMPLATES)
        """By what follows the name in the message of metadata."""

    def read(self, body: bytes) -> tuple[Object, Echo] | None:
        """Return the canonical object in a body, and what is known of it; None where it is not as Go writes it."""
        head, end = self._head, len(body) - _TAIL_SIZE
        if end >= _TWO_BYTES or not (body.startswith(head) and body.endswith(ENVELOPE_TAIL)):
            return None
        try:
            return self._read(body, len(head), end)
        except (ValueError, LookupError, RecursionError):  # what is broken is refused by those who say why
            return None

    def _read(self, body: bytes, at: int, end: int) -> tuple[Object, Echo]:
        """Read the message whose length stands at an offset.

        Raises:
            ValueError: it is not written as Go writes it, or a text is no UTF-8.
            LookupError: there is a field that the schema does not have, or the body ends too soon.
        """
        size, start = body[at], at + 1
        if size >= _ONE_BYTE:
            size, start = size - _ONE_BYTE + (body[start] << 7), start + 1
        if start + size != end or body[start] != _METADATA:
            raise ValueError(_NOT_SO)
        size, at = body[start + 1], start + 2
        if size >= _ONE_BYTE:
            size, at = size - _ONE_BYTE + (body[at] << 7), at + 1
        behind, stop = at + size, at + 2 + body[at + 1]
        if behind > end:
            raise ValueError(_NOT_SO)
        template = self._templates.get(body[stop:behind])
        if template is not None and body[at] == _NAME and 2 < stop - at < 2 + _ONE_BYTE and stop <= behind:
            meta = {"name": str(body[at + 2 : stop], "utf-8"), **orjson.loads(template.text)}
        else:
            meta, template = self._meta(body[at:behind]), None
        if "managedFields" in meta:  # which may be too deep to be stored
            raise ValueError(_NOT_SO)
        obj, members = self._with_data({**self._names, "metadata": meta}, body, behind, end)
        if template is None:
            return obj, Echo(partial(self._body, behind=body[behind:]), b"")
        known = members and members + body[stop:behind]
        return obj, Echo(partial(template.message.body, behind=body[behind:]), known)

    def _meta(self, message: bytes) -> Object:
        """Return the metadata of a message; know their template if that came before."""
        meta = self._protobuf.read_message(message, self._schema)
        name = meta.get("name", "")
        named = delimited(1, name.encode())
        rest = message[len(named) :]
        if name and message.startswith(named) and self._templates.recurs(rest):
            others = self._protobuf.read_message(rest, self._schema)
            self._templates.keep(rest, _Template(orjson.dumps(others), TemplateMetadata(self._kind, self._cut)))
        return meta

    def _cut(self, meta: Object) -> tuple[bytes, ...]:
        return self._protobuf.cut_message(meta, self._schema)

    def _body(self, meta: Object, behind: bytes) -> bytes:
        message = delimited(1, self._protobuf.write_message(meta, self._schema))
        return b"".join((self._head, varint(len(message) + len(behind) - _TAIL_SIZE), message, behind))

    def _with_data(self, obj: Object, body: bytes, at: int, end: int) -> tuple[Object, bytes]:
        """Return an object with its members behind the metadata, and a JSON of their names; none if a text is empty.

        Raises:
            ValueError: they are not written as Go writes them, or a text is no UTF-8.
            LookupError: there is a field that the schema does not have, or the body ends too soon.
        """
        last, is_ordered = 0, True
        names: Object = {}
        while at < end:
            field = body[at]
            if field <= last:
                raise ValueError(_NOT_SO)
            last, (name, read) = field, self._fields[field]
            if read is not None:
                items, at = _entries(field, read, body, at, end)
                obj[name], names[name] = items, None if "" in items.values() else [*items]
            elif body[at + 1] > 1:
                raise ValueError(_NOT_SO)
            else:
                obj[name] = names[name] = body[at + 1] == 1
                is_ordered, at = False, at + 2
        if at != end:
            raise ValueError(_NOT_SO)
        if not is_ordered:
            obj = {name: obj[name] for name in self._order if name in obj}
        return obj, b"" if None in names.values() else orjson.dumps(names)


def _entries(field: int, read: Callable[[bytes], Any], body: bytes, at: int, end: int) -> tuple[Object, int]:
    """Return the entries of a map, which all have the same tag, and the offset behind them.

    Raises:
        ValueError: they are not written as Go writes them, or a text is no UTF-8.
        IndexError: the body ends too soon.
    """
    items: Object = {}
    before = ""
    while at < end:
        number, size, key_tag, length = body[at : at + 4]
        if number != field:
            break
        start = at + 2
        if size >= _ONE_BYTE:
            size, key_tag, start = size - _ONE_BYTE + (key_tag << 7), length, at + 3
            length = body[at + 4]
            if size < _ONE_BYTE:
                raise ValueError(_NOT_SO)
        at, stop = start + size, start + 2 + length
        value_tag, size = body[stop : stop + 2]
        first = stop + 2
        if size >= _ONE_BYTE:
            size, first = size - _ONE_BYTE + (body[first] << 7), stop + 3
            if size < _ONE_BYTE:
                raise ValueError(_NOT_SO)
        key = str(body[start + 2 : stop], "utf-8")
        if first + size != at or key_tag != _KEY or value_tag != _VALUE or length >= _ONE_BYTE:
            raise ValueError(_NOT_SO)
        if key <= before:
            raise ValueError(_NOT_SO)
        items[key] = read(body[first:at])
        before = key
    return items, at
