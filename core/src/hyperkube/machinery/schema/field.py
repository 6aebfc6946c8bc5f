"""`KubeField`: the base of the field classes of API schemas (`hyperkube.machinery.schema.fields`)."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from hyperkube.machinery.schema import scalars
from hyperkube.machinery.schema.light_marshmallow import ma
from hyperkube.machinery.schema.mismatch import DecodeError
from hyperkube.machinery.schema.traits import Traits


class KubeField(ma.fields.Field[Any]):
    """A field with its traits; see `Traits` for what each attribute means."""

    scalar: ClassVar[str] = ""
    """The scalar's name in `hyperkube.machinery.schema.scalars`; empty for lists, maps and structs."""

    number: int
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
        # Not marshmallow's constructor: what it would set is the same for all of thousands of fields, and stands below.
        name = traits.pop("name", "")
        given: dict[str, Any] = {"number": number, **traits}
        if name:
            given["json_name"] = given["data_key"] = name
        self.__dict__ = given

    def settle(self, attribute: str, home: str) -> None:
        """Take the attribute as the JSON name unless another was declared; `home` is the module of the declaration."""
        self.json_name = self.json_name or attribute

    def _bind_to_schema(self, field_name: str, parent: Any) -> None:
        super()._bind_to_schema(field_name, parent)
        self.json_name = self.json_name or field_name

    @property
    def go_type(self) -> str:
        """The Go type as decoding errors show it."""
        return self.typedef or _GO_TYPES.get(self.scalar, self.scalar)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        """Decode one value as marshmallow does; see `hyperkube.machinery.schema.compiled` for the fast way."""
        try:
            return self._decode(value)
        except DecodeError as error:
            raise ma.ValidationError(str(error)) from error

    def _decode(self, value: Any) -> Any:
        return scalars.CONVERTERS[self.scalar](value, None)


for _name, _value in vars(ma.fields.Raw(allow_none=True)).items():
    setattr(KubeField, _name, _value)

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
