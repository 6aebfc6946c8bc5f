"""The field classes of API schemas: marshmallow fields that carry what Kubernetes knows about a field.

A declaration reads like a line of Go's struct: ``ports = List("ContainerPort", 6, omitempty=True, list_type="map",
list_map_keys=("containerPort", "protocol"))``; the number is the protobuf field number. The attributes of a field are
its `Traits`; compiled forms (`hyperkube.machinery.schema.compiled`) are made from them and do the work on the hot path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Unpack

import marshmallow as ma

from hyperkube.machinery.schema.traits import Traits

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema


class Union(NamedTuple):
    """Members of which one is set, as OpenAPI shows it.

    Attributes:
        discriminator: the member that names the one that is set, if there is such.
        members: JSON name → Go name of the members.
    """

    discriminator: str
    members: dict[str, str]


class KubeField(ma.fields.Field[Any]):
    """A field with its traits; see `Traits` for what each attribute means."""

    scalar: ClassVar[str] = ""
    """The scalar's name in `hyperkube.machinery.schema.scalars`; empty for lists, maps and structs."""

    json_name: str = ""
    ptr: bool = False
    omitempty: bool = False
    omitzero: bool = False
    nullable: bool = False
    default: Any = None
    enum: tuple[str, ...] = ()
    format: str = ""
    typedef: str = ""
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    struct_type: str = ""
    patch_strategy: str = ""
    patch_merge_key: str = ""
    gate: str = ""
    dv: tuple[str, ...] = ()
    wrapper: bool = False
    hidden: bool = False
    go_int: bool = False
    doc: str = ""

    def __init__(self, number: int = 0, **traits: Unpack[Traits]) -> None:
        """Declare a field with the protobuf field number (0: not on the wire)."""
        name = traits.pop("name", "")
        super().__init__(required=traits.pop("required", False), allow_none=True, data_key=name or None)
        self.number = number
        self.json_name = name
        self.__dict__.update(traits)

    def _bind_to_schema(self, field_name: str, parent: Any) -> None:
        super()._bind_to_schema(field_name, parent)
        self.json_name = self.json_name or field_name

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or _GO_TYPES.get(self.scalar, self.scalar)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        from hyperkube.machinery.schema.convert import converter
        from hyperkube.machinery.schema.mismatch import DecodeError
        from hyperkube.machinery.schema.structs import codec_of

        try:
            return converter(self, codec_of, lambda: None)(value, [])
        except DecodeError as error:
            raise ma.ValidationError(str(error)) from error


_GO_TYPES = {
    "int_or_string": "intstr.IntOrString",
    "quantity": "resource.Quantity",
    "time": "v1.Time",
    "micro_time": "v1.MicroTime",
    "duration": "v1.Duration",
    "raw": "runtime.RawExtension",
    "fields_v1": "v1.FieldsV1",
    "json": "v1.JSON",
    "bytes": "[]uint8",
}


class String(KubeField):
    """A string."""

    scalar = "string"


class Bool(KubeField):
    """A boolean."""

    scalar = "bool"


class Int32(KubeField):
    """An integer of 32 bits."""

    scalar = "int32"


class Int64(KubeField):
    """An integer of 64 bits."""

    scalar = "int64"


class Float64(KubeField):
    """A floating-point number of 64 bits."""

    scalar = "float64"


class Bytes(KubeField):
    """Bytes, in JSON as base64."""

    scalar = "bytes"


class Quantity(KubeField):
    """A quantity such as ``100m`` or ``1Gi``, kept as canonical text."""

    scalar = "quantity"


class IntOrString(KubeField):
    """An integer of 32 bits or a string, often a percentage."""

    scalar = "int_or_string"


class Time(KubeField):
    """A time in RFC 3339, to the second."""

    scalar = "time"


class MicroTime(KubeField):
    """A time in RFC 3339 with exactly six digits of fraction."""

    scalar = "micro_time"


class Duration(KubeField):
    """A duration as Go writes it: ``1h2m3.5s``."""

    scalar = "duration"


class RawExtension(KubeField):
    """Any JSON object, kept as it came; on the wire its JSON text."""

    scalar = "raw"


class FieldsV1(KubeField):
    """A set of field paths of server-side apply; on the wire its JSON text."""

    scalar = "fields_v1"


class Json(KubeField):
    """Any JSON value, kept as it came; on the wire its JSON text."""

    scalar = "json"


class AnyValue(KubeField):
    """Any JSON value, in JSON only (table cells)."""

    scalar = "any"


class Struct(KubeField):
    """Another schema's object, named as ``Class`` of the same module or ``package.module:Class``."""

    def __init__(self, schema: str, number: int = 0, **traits: Unpack[Traits]) -> None:
        """Declare a struct of the named schema."""
        super().__init__(number, **traits)
        self.schema_name = schema
        self.home = ""

    def schema(self) -> type[KubeSchema]:
        """Import and return the schema class."""
        from hyperkube.machinery.schema.reference import resolve

        return resolve(self.schema_name, self.home)

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        schema = self.schema()
        return f"{schema.package.proto.rsplit('.', 1)[-1]}.{schema.__name__}"


class Inline(Struct):
    """Another schema whose members are members of this one in JSON; on the wire it is a message of its own."""


class List(KubeField):
    """A list of scalars, structs or maps; the items are a field, or a schema's name for structs."""

    def __init__(self, items: KubeField | str, number: int = 0, **traits: Unpack[Traits]) -> None:
        """Declare a list of `items`."""
        super().__init__(number, **traits)
        self.items: KubeField = Struct(items) if isinstance(items, str) else items

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or f"[]{self.items.go_type}"


class Map(KubeField):
    """A map from strings to scalars, structs or lists; the values are a field, or a schema's name for structs."""

    def __init__(self, values: KubeField | str, number: int = 0, **traits: Unpack[Traits]) -> None:
        """Declare a map to `values`."""
        super().__init__(number, **traits)
        self.items: KubeField = Struct(values) if isinstance(values, str) else values

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or f"map[string]{self.items.go_type}"
