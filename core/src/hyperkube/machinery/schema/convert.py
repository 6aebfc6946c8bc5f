"""From a declared field to a function: checks a JSON value as Go's decoder does and returns what Go would write back.

A converter is called as ``(value, seen)``; it returns the canonical value or `DROP` when JSON leaves it out, raises
`DecodeError`, and adds the unknown member names it meets to `seen`. Each kind of field has a factory that settles what
null and empty become, so that a member costs one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from hyperkube.machinery.schema import scalars
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown
from hyperkube.machinery.schema.scalars import Converter


class Codec(Protocol):
    """What decodes the objects of one schema; see `hyperkube.machinery.schema.structs.StructCodec`."""

    schema: type[KubeSchema]
    decode: Converter

    def zero(self) -> dict[str, Any]:
        """Return the object Go writes for the zero value of the struct."""


Codecs: TypeAlias = Callable[[type[KubeSchema]], Codec]
"""Gives the codec of a schema."""

DROP: Any = object()
"""Returned instead of a value that JSON leaves out."""

Absent: TypeAlias = Callable[[], Any]

Slot: TypeAlias = tuple[int, type, bool, Converter, "Codec | None"]
"""A member of a struct, ready to decode: its place in the declaration; a class whose instances need no conversion;
whether an empty instance of that class is written; the converter for everything else, null included; and for structs
the codec, which is called directly."""

_GO_STRUCTS = frozenset({"quantity", "int_or_string", "time", "micro_time", "duration", "raw", "json", "fields_v1"})
_EXACT: dict[str, type] = {"string": str, "bool": bool, "int32": int}


class _Never:
    """The class of no JSON value."""


def slot(field: KubeField, index: int, codecs: Codecs) -> Slot:
    """Compile a member of a struct."""
    absent = absence(field, codecs)
    convert = converter(field, codecs, absent or _dropped)
    if isinstance(field, Struct):
        codec = codecs(field.schema())
        return index, _Never if codec.schema.shape else dict, True, convert, codec
    return index, _EXACT.get(field.scalar, _Never), not _drops_empty(field), convert, None


def _drops_empty(field: KubeField) -> bool:
    """Tell whether an empty value is as good as none; of bytes that is so only where they are shown (`blanks`)."""
    apart = isinstance(field, Struct) or field.scalar in _GO_STRUCTS or field.scalar == "bytes"
    return field.omitempty and not field.ptr and not apart


def _dropped() -> Any:
    return DROP


def _nothing() -> None:
    return None


def absence(field: KubeField, codecs: Codecs) -> Absent | None:
    """Return what makes the value of a missing member, or None when it stays missing."""
    nilable = field.ptr or isinstance(field, List | Map) or field.scalar in {"bytes", "any"}
    if nilable:
        return None if field.omitempty else _nothing
    if field.omitzero or (field.omitempty and not isinstance(field, Struct) and field.scalar not in _GO_STRUCTS):
        return None
    return zero_of(field, codecs)


def zero_of(field: KubeField, codecs: Codecs) -> Absent:
    """Return what makes the zero value of a field that is no pointer."""
    if isinstance(field, Struct):
        return codecs(field.schema()).zero
    zero = scalars.ZERO.get(field.scalar)
    return lambda: zero


def converter(field: KubeField, codecs: Codecs, absent: Absent) -> Converter:
    """Compile a field; `absent` makes what null becomes."""
    if isinstance(field, Struct):
        return _struct(codecs(field.schema()), absent)
    if isinstance(field, List):
        return _strings(field, absent) if field.items.scalar == "string" else _list(field, codecs, absent)
    if isinstance(field, Map):
        return _map(field, codecs, absent)
    return _scalar(field, scalars.CONVERTERS[field.scalar], absent)


def _scalar(field: KubeField, plain: Converter, absent: Absent) -> Converter:
    drops_empty = _drops_empty(field)
    drops_null = field.omitzero
    go_type = "int" if field.go_int else field.typedef
    if not (drops_empty or drops_null or go_type):
        return lambda value, seen: absent() if value is None else plain(value, seen)

    def convert(value: Any, seen: list[str] | None) -> Any:
        if value is None:
            return absent()
        try:
            value = plain(value, seen)
        except TypeMismatch as mismatch:
            mismatch.go_type = go_type or mismatch.go_type
            raise
        if not value and (drops_empty or (drops_null and value is None)):
            return DROP
        return value

    return convert


def _struct(codec: Codec, absent: Absent) -> Converter:
    def convert(value: Any, seen: list[str] | None) -> Any:
        return absent() if value is None else codec.decode(value, seen)

    return convert


def _strings(field: List, absent: Absent) -> Converter:
    drops_empty = _drops_empty(field)

    def convert(value: Any, _seen: list[str] | None) -> Any:
        if value.__class__ is not list:
            if value is None:
                return absent()
            raise TypeMismatch(shown(value), field.go_type, "slice")
        for item in value:
            if item.__class__ is not str:
                if item is None:
                    return convert(["" if other is None else other for other in value], _seen)
                raise TypeMismatch(shown(item), field.items.go_type, "string")
        return DROP if drops_empty and not value else value

    return convert


def _list(field: List, codecs: Codecs, absent: Absent) -> Converter:
    drops_empty = _drops_empty(field)
    codec = codecs(field.items.schema()) if isinstance(field.items, Struct) else None
    plain = converter(field.items, codecs, zero_of(field.items, codecs))

    def convert(value: Any, seen: list[str] | None) -> Any:
        if value.__class__ is not list:
            if value is None:
                return absent()
            raise TypeMismatch(shown(value), field.go_type, "slice")
        if not value and drops_empty:
            return DROP
        if codec is None:
            return [plain(item, seen) for item in value]
        decode = codec.decode
        return [plain(item, seen) if item is None else decode(item, seen) for item in value]

    return convert


def in_order(members: dict[str, Any]) -> dict[str, Any]:
    """Return a map with its keys sorted, as Go writes maps."""
    keys = list(members)
    ordered = sorted(keys)
    return members if keys == ordered else {key: members[key] for key in ordered}


def _map(field: Map, codecs: Codecs, absent: Absent) -> Converter:
    drops_empty = _drops_empty(field)
    is_strings = field.items.scalar == "string"
    # Bytes of a map are empty where they are null: the store, which is protobuf in Kubernetes, cannot tell them apart.
    zero = str if field.items.scalar == "bytes" else zero_of(field.items, codecs)
    if field.typedef.endswith("ResourceList"):
        plain = _scalar(field.items, scalars.resource_value, zero)
    else:
        plain = converter(field.items, codecs, zero)

    def convert(value: Any, seen: list[str] | None) -> Any:
        if value.__class__ is not dict:
            if value is None:
                return absent()
            raise TypeMismatch(shown(value), field.go_type, "map")
        if not value and drops_empty:
            return DROP
        for key, item in value.items():
            if not is_strings or item.__class__ is not str:
                new = plain(item, seen)
                if new is not item:
                    value[key] = new
        return in_order(value) if len(value) > 1 else value

    return convert
