"""The field classes of API schemas: marshmallow fields that carry what Kubernetes knows about a field.

A declaration reads like a line of Go's struct: ``ports = List("ContainerPort", 6, omitempty=True, list_type="map",
list_map_keys=("containerPort", "protocol"))``; the number is the protobuf field number. The attributes of a field are
its `Traits`; compiled forms (`hyperkube.machinery.schema.compiled`) are made from them and do the work on the hot path.
"""

from __future__ import annotations

from typing import Any, Unpack

from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.field import KubeField
from hyperkube.machinery.schema.mismatch import TypeMismatch, shown
from hyperkube.machinery.schema.reference import resolve
from hyperkube.machinery.schema.traits import Traits, Union

__all__ = [
    "AnyValue",
    "Bool",
    "Bytes",
    "Duration",
    "FieldsV1",
    "Float64",
    "Inline",
    "Int32",
    "Int64",
    "IntOrString",
    "Json",
    "KubeField",
    "List",
    "Map",
    "MicroTime",
    "Quantity",
    "RawExtension",
    "String",
    "Struct",
    "Time",
    "Union",
]


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
        return resolve(self.schema_name, self.home)

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        schema = self.schema()
        return f"{schema.package.proto.rsplit('.', 1)[-1]}.{schema.__name__}"

    def settle(self, attribute: str, home: str) -> None:
        """Take note of the module in which a bare schema name is looked up."""
        super().settle(attribute, home)
        self.home = home

    def _decode(self, value: Any) -> Any:
        return self.schema()().load(value)


class Inline(Struct):
    """Another schema whose members are members of this one in JSON; on the wire it is a message of its own."""


class _Items(KubeField):
    """Many values of one kind."""

    def __init__(self, items: KubeField | str, number: int = 0, **traits: Unpack[Traits]) -> None:
        """Declare what each of `items` is: a field, or the name of a schema for structs."""
        super().__init__(number, **traits)
        self.items: KubeField = Struct(items) if isinstance(items, str) else items

    def settle(self, attribute: str, home: str) -> None:
        """Tell the items where they are declared, too."""
        super().settle(attribute, home)
        self.items.settle("", home)


class List(_Items):
    """A list of scalars, structs or maps; the items are a field, or a schema's name for structs."""

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or f"[]{self.items.go_type}"

    def _decode(self, value: Any) -> Any:
        if not isinstance(value, list):
            raise TypeMismatch(shown(value), self.go_type)
        return [self.items.deserialize(item) for item in value]


class Map(_Items):
    """A map from strings to scalars, structs or lists; the values are a field, or a schema's name for structs."""

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or f"map[string]{self.items.go_type}"

    def _decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeMismatch(shown(value), self.go_type)
        return {key: self.items.deserialize(item) for key, item in value.items()}
