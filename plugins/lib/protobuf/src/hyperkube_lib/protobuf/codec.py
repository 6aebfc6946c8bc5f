"""Objects to and from messages: what was compiled from the schemas is kept by each codec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from hyperkube_lib.protobuf.envelope import ProtobufError, around, close_envelope, open_envelope
from hyperkube_lib.protobuf.wire import WireError, delimited

from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.compiled import CompiledSchema

if TYPE_CHECKING:
    from hyperkube_lib.protobuf.message_reader import Kept


class Protobuf:
    """Reads and writes messages; keeps what it compiled from the schemas it met."""

    def __init__(self, many: int | None = None) -> None:
        """Generate straight code for the schemas of which `many` messages come; None: `message_reader.MANY`."""
        self._many = many

    @cached_property
    def _kept(self) -> Kept:
        """Return what has been compiled; a server that never meets a message does not load what compiles."""
        from hyperkube_lib.protobuf.message_reader import MANY, Kept

        return Kept(MANY if self._many is None else self._many)

    def read_message(self, message: bytes, schema: CompiledSchema) -> Object:
        """Return the canonical object of a message, without kind and apiVersion.

        Raises:
            ProtobufError: the bytes are no message of the schema.
            DecodeError: a value is none, such as a quantity.
        """
        reader = self._kept.reader(schema.schema)
        try:
            obj: Object = reader.read(message, 0, len(message))
        except WireError as error:
            raise ProtobufError(str(error)) from error
        except IndexError as error:  # the message ends within a tag, a length or a number
            raise ProtobufError("unexpected EOF") from error
        except RecursionError as error:
            raise ProtobufError("exceeded max depth") from error
        return obj

    def write_message(self, obj: Object, schema: CompiledSchema) -> bytes:
        """Return the message of an object."""
        return self._kept.writer(schema.schema).write(obj)

    def cut_message(self, obj: Object, schema: CompiledSchema) -> tuple[bytes, ...]:
        """Return the message of an object in pieces, for others of its template; see `MessageWriter.cut`."""
        return self._kept.writer(schema.schema).cut(obj)

    def decode(self, body: bytes, schema_of: Callable[[str, str], CompiledSchema]) -> Object:
        """Return the object of a body; `schema_of` knows the schema of an apiVersion and a kind.

        Raises:
            ProtobufError: the body is no protobuf of Kubernetes.
            DecodeError: a value is none, such as a quantity.
        """
        envelope = open_envelope(body)
        obj = self.read_message(envelope.raw, schema_of(envelope.api_version, envelope.kind))
        return {"kind": envelope.kind, "apiVersion": envelope.api_version, **obj}

    def encode(self, obj: Object, schema: CompiledSchema) -> bytes:
        """Return the body for an object, which says what it is."""
        return close_envelope(obj.get("apiVersion", ""), obj.get("kind", ""), self.write_message(obj, schema))

    def encode_list(self, head: Object, items: Iterable[bytes], list_meta: CompiledSchema) -> bytes:
        """Return the body for a list from the messages of its items.

        Args:
            head: the list's apiVersion, kind and metadata.
            items: messages made by `write_message`, each as field 2.
            list_meta: the schema of ListMeta.
        """
        items = list(items)
        before, after = self.around_items(head, sum(map(len, items)), list_meta)
        return b"".join((before, *items, after))

    def around_items(self, head: Object, size: int, list_meta: CompiledSchema) -> tuple[bytes, bytes]:
        """Return what comes before and after the items of a list, which have so many bytes; else as `encode_list`."""
        metadata = delimited(1, self.write_message(head.get("metadata", {}), list_meta))
        return around(head["apiVersion"], head["kind"], metadata, size)
