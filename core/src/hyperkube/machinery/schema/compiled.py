"""`CompiledSchema`: all that is done with objects of one kind, made once from its schema."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import Recent
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.blanks import Blanks, blanks_of
from hyperkube.machinery.schema.defaults import Defaulter, defaulter
from hyperkube.machinery.schema.fields import Struct
from hyperkube.machinery.schema.lookup import SchemaType, TypeInfo
from hyperkube.machinery.schema.mismatch import DecodeError
from hyperkube.machinery.schema.reference import resolve
from hyperkube.machinery.schema.scalars import Converter
from hyperkube.machinery.schema.strict import strict_errors
from hyperkube.machinery.schema.structs import StructCodec, UnknownMemberError, codec_of, decoder, members

_orders: Recent[tuple[Any, ...], tuple[str, ...]] = Recent(1024)
"""The names of a member's members in order, by schema, member and the names as they came."""


class CompiledSchema:
    """Decodes, defaults and describes objects of one schema; every part is made when it is first used.

    Get one from `compile_schema`; it is immutable to its users and may be shared by threads.
    """

    def __init__(self, schema: type[KubeSchema]) -> None:
        self.schema = schema
        self._codec = codec_of(schema)
        self._defaulter: Defaulter | None = None
        self._knows_defaulter = False
        self._member_codecs: dict[str, StructCodec] = {}
        self.type: TypeInfo = SchemaType.of(schema)

    @cached_property
    def blanks(self) -> Blanks:
        """The members that are shown only when they are not empty."""
        return blanks_of(self.schema)

    def decode(self, value: Any, *, report: bool = True) -> tuple[Object, list[str]]:
        """Check and canonicalise a parsed JSON document.

        Members come out in declared order; null and empty ones as Go would write them back; unknown ones are dropped.
        The document is changed in place and may be the result, so it belongs to the decoder afterwards.

        Args:
            value: the document; a null document is the zero object.
            report: whether to search for where unknown members are.

        Returns:
            The object, and ``unknown field "PATH"`` for every unknown member in the document's order.

        Raises:
            DecodeError: a value has the wrong type; the text is Go's.
        """
        if value is None:
            return self._codec.zero(), []
        try:
            decoded: Object = self._codec.decode(value, None)
        except UnknownMemberError:
            errors = strict_errors(self.schema, value) if report else []
            return self._codec.decode(value, []), errors
        return decoded, []

    def decode_member(self, member: str, value: Object) -> Object | None:
        """Return the value of a member that is an object, checked and canonical; None if anything is wrong with it.

        It is changed in place and may be the result. What is wrong is told by `decode` of the whole.
        """
        codec = self._member_codecs.get(member)
        if codec is None:
            field = members(self.schema)[member]
            assert isinstance(field, Struct)  # noqa: S101 -- metadata of all kinds
            codec = self._member_codecs[member] = codec_of(field.schema())
        try:
            decoded: Object = codec.decode(value, None)
        except (UnknownMemberError, DecodeError):
            return None
        return decoded

    def canonical(self, obj: Object) -> Object:
        """Return an object as Go would write it: what a plugin added is put in order, what is empty is left out.

        The object is changed in place and may be the result.

        Raises:
            DecodeError: a value has the wrong type.
        """
        canonical: Object = self._codec.decode(obj, [])
        return canonical

    def canonical_but_for_metadata(self, obj: Object) -> Object:
        """Return an object as `canonical` does; each member of its metadata is canonical and need only be put in order.

        Raises:
            DecodeError: a value has the wrong type.
        """
        obj["metadata"] = self.member_in_order("metadata", obj["metadata"])
        canonical: Object = self._around_metadata(obj, [])
        return canonical

    def member_in_order(self, member: str, value: Object) -> Object:
        """Return the value of a member, all of whose own members are canonical, in the order of its schema."""
        order = _orders.get((self.schema, member, *value)) or self._order_of(member, tuple(value))
        return dict(zip(order, map(value.__getitem__, order), strict=True))

    def _order_of(self, member: str, names: tuple[str, ...]) -> tuple[str, ...]:
        field = members(self.schema)[member]
        assert isinstance(field, Struct)  # noqa: S101 -- metadata and status of all kinds
        return _orders.keep((self.schema, member, *names), tuple(sorted(names, key=[*members(field.schema())].index)))

    @cached_property
    def _around_metadata(self) -> Converter:
        return decoder(self.schema, leaves="metadata")

    def strict_errors(self, document: Any) -> list[str]:
        """Return the texts for unknown and duplicate members, in the order of the document (see `strict.Members`)."""
        return strict_errors(self.schema, document)

    def default(self, obj: Object) -> None:
        """Fill in the declared defaults, in place; idempotent. Hand-written defaults are the strategy's."""
        if not self._knows_defaulter:
            self._defaulter = defaulter(self.schema)
            self._knows_defaulter = True
        if self._defaulter is not None:
            self._defaulter(obj)


def compile_schema(schema: type[KubeSchema] | str) -> CompiledSchema:
    """Return the compiled form of a schema, given as a class or as ``package.module:Class``; one per class.

    Raises:
        LookupError: there is no such schema.
    """
    schema_class = resolve(schema) if isinstance(schema, str) else schema
    compiled = schema_class.__dict__.get("compiled_schema")
    if compiled is None:
        compiled = CompiledSchema(schema_class)
        type.__setattr__(schema_class, "compiled_schema", compiled)
    assert isinstance(compiled, CompiledSchema)  # noqa: S101 -- only this function sets it
    return compiled


__all__ = ["CompiledSchema", "DecodeError", "compile_schema"]
