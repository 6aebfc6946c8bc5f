"""The compiled form of one schema: a table of members and a loop over what came.

The loop works in place: what is already as Go would write it is left alone, which is the common case and costs one
look-up a member. When a value is wrong the exception learns its place on its way out. An unknown member is an exception
too, until `hyperkube.machinery.schema.strict` has searched for all of them; they are dropped in a second run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.convert import DROP, Absent, Slot, absence, slot
from hyperkube.machinery.schema.fields import Inline, KubeField
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown
from hyperkube.machinery.schema.scalars import Converter
from hyperkube.machinery.schema.shapes import shaped

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema


class UnknownMemberError(Exception):
    """There is a member that the schema does not declare."""


def members(schema: type[KubeSchema]) -> dict[str, KubeField]:
    """Return the members of a schema in JSON by name, those of inlined schemas in their place."""
    result: dict[str, KubeField] = {}
    for field in schema.declared().values():
        if isinstance(field, Inline):
            result |= members(field.schema())
        elif not field.hidden:
            result[field.json_name] = field
    return result


def embedded(schema: type[KubeSchema]) -> dict[str, tuple[str, ...]]:
    """Return, for each member that stands in an embedded Go struct, the names of these structs, the outermost first.

    Go's decoder names them in the path of a mismatch, though JSON does not show them.
    """
    result: dict[str, tuple[str, ...]] = dict.fromkeys(("kind", "apiVersion"), ("TypeMeta",)) if schema.kinded else {}
    for field in schema.declared().values():
        if isinstance(field, Inline):
            inner = field.schema()
            deeper = embedded(inner)
            result |= {name: (inner.__name__, *deeper.get(name, ())) for name in members(inner)}
    return result


class StructCodec:
    """Decodes objects of one schema; compiles itself when it is first used.

    Attributes:
        decode: ``(value, seen)`` → the object as Go would write it, changed in place or made anew: members in declared
            order, empty ones left out or filled in as the field says, unknown ones dropped and their names added to
            `seen`. With None for `seen` an unknown member raises `UnknownMemberError`, and none was dropped before.
    """

    __slots__ = ("_zeros", "decode", "schema")

    def __init__(self, schema: type[KubeSchema]) -> None:
        self.schema = schema
        self.decode: Converter = self._compile_and_decode
        self._zeros: dict[str, Absent] | None = None

    def zero(self) -> dict[str, Any]:
        """Return the object Go writes for the zero value of the struct."""
        if self._zeros is None:
            self._zeros = zeros_of(self.schema)
        return {name: make() for name, make in self._zeros.items()}

    def _compile_and_decode(self, value: Any, seen: list[str] | None) -> Any:
        shape = self.schema.shape
        if shape:
            self.decode = shaped(shape, self.schema, codec_of)
        else:
            decode = decoder(self.schema)
            self.decode = _once(decode) if self.schema.templated else decode
        return self.decode(value, seen)


def zeros_of(schema: type[KubeSchema]) -> dict[str, Absent]:
    """Return what makes each member that is written even if it is missing."""
    made = {name: absence(field, codec_of) for name, field in members(schema).items()}
    return {name: make for name, make in made.items() if make is not None}


def rebuilder(
    fields: Mapping[str, KubeField], zeros: Mapping[str, Absent]
) -> Callable[[dict[str, Any], list[str]], dict[str, Any]]:
    """Return what makes an object anew: without the dropped members, with those always written, in declared order."""
    order = {name: index for index, name in enumerate(fields)}

    def rebuild(value: dict[str, Any], dropped: list[str]) -> dict[str, Any]:
        out = value.copy() if dropped else value
        for name in dropped:
            del out[name]
        for name, zero in zeros.items():
            if name not in out:
                out[name] = zero()
        return {name: out[name] for name in sorted(out, key=order.__getitem__)}

    return rebuild


def _table(fields: Mapping[str, KubeField], leaves: str) -> dict[str, Slot]:
    table = {name: slot(field, index, codec_of) for index, (name, field) in enumerate(fields.items())}
    if leaves:
        table[leaves] = (*table[leaves][:4], None)
    return table


def decoder(schema: type[KubeSchema], leaves: str = "") -> Converter:  # noqa: C901 -- one loop, as calls are what costs
    """Return the decoder of a struct; a struct that is its member `leaves` is taken as it is."""
    fields = members(schema)
    table = _table(fields, leaves)
    zeros = zeros_of(schema)
    required = tuple(zeros)
    embedding = embedded(schema)
    lookup = table.get
    struct_name = schema.__name__
    go_type = f"{schema.package.proto.rsplit('.', 1)[-1]}.{struct_name}"

    rebuild = rebuilder(fields, zeros)

    def decode(value: Any, seen: list[str] | None) -> dict[str, Any]:  # noqa: C901, PLR0912 -- the same
        if value.__class__ is not dict:
            raise TypeMismatch(shown(value), go_type, "struct")
        last = -1
        ordered = True
        dropped: list[str] = []
        key = ""
        try:
            for key, item in value.items():
                entry = lookup(key)
                if entry is None:
                    if seen is None:
                        raise UnknownMemberError
                    seen.append(key)
                    dropped.append(key)
                    continue
                index, exact, keep, convert, codec = entry
                cls: Any = item.__class__
                if cls is not exact:
                    new = convert(item, seen)
                    if new is DROP:
                        dropped.append(key)
                    elif new is not item:
                        value[key] = new
                elif codec is not None:
                    new = codec.decode(item, seen)
                    if new is not item:
                        value[key] = new
                elif not (item or keep):
                    dropped.append(key)
                elif cls is int and not -0x80000000 <= item <= 0x7FFFFFFF:
                    convert(item, seen)
                if index < last:
                    ordered = False
                last = index
        except TypeMismatch as mismatch:
            mismatch.inside(struct_name, *embedding.get(key, ()), key)
            raise
        if ordered and not dropped:
            for name in required:
                if name not in value:
                    return rebuild(value, dropped)
            checked: dict[str, Any] = value
            return checked
        return rebuild(value, dropped)

    return decode


_NULL = b"null"


def _once(decode: Converter) -> Converter:
    """Return a decoder that knows what came of the latest values: to read that is a quarter of the work."""
    latest: Recent[bytes, bytes] = Recent(TEMPLATES)

    def decode_once(value: Any, seen: list[str] | None) -> Any:
        try:
            key = orjson.dumps(value)
        except TypeError:  # not what JSON can hold, such as an integer beyond 64 bits
            return decode(value, seen)
        if _NULL in key:  # so are infinite numbers written, too, which are refused
            return decode(value, seen)
        known = latest.get(key)
        if known is not None:
            return value if known == key else orjson.loads(known)
        unknown = len(seen) if seen is not None else 0
        decoded = decode(value, seen)
        if len(key) <= TEMPLATE_MAX and (seen is None or len(seen) == unknown):
            latest.keep(key, orjson.dumps(decoded))
        return decoded

    return decode_once


def codec_of(schema: type[KubeSchema]) -> StructCodec:
    """Return the codec of a schema; there is one per class, kept on the class."""
    codec = schema.__dict__.get("compiled_codec")
    if codec is None:
        codec = StructCodec(schema)
        type.__setattr__(schema, "compiled_codec", codec)
    assert isinstance(codec, StructCodec)  # noqa: S101 -- only this function sets it
    return codec
