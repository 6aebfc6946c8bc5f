"""From a schema to an OpenAPI v3 definition, with the extensions that clients patch and validate by.

Source: the documents a kube-apiserver 1.36 publishes; kube-openapi ``pkg/builder3``.
"""

from __future__ import annotations

from typing import Any

from hyperkube_host.apiserver.openapi.described import with_values

from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import members

_PREFIX = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."

SPECIAL: dict[str, tuple[str, Object]] = {
    "quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {
            "description": "A number with a suffix: 500m is half of one, 1.5Gi is 1536 MiB.",
            "oneOf": [{"type": "string"}, {"type": "number"}],
        },
    ),
    "int_or_string": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {
            "description": "An integer, or a string such as a percentage or the name of a port.",
            "format": "int-or-string",
            "oneOf": [{"type": "integer"}, {"type": "string"}],
        },
    ),
    "time": (
        f"{_META}Time",
        {"description": "A time in RFC 3339, to the second.", "type": "string", "format": "date-time"},
    ),
    "micro_time": (
        f"{_META}MicroTime",
        {"description": "A time in RFC 3339, to the microsecond.", "type": "string", "format": "date-time"},
    ),
    "raw": (
        "io.k8s.apimachinery.pkg.runtime.RawExtension",
        {"description": "Any object, kept as it is.", "type": "object"},
    ),
    "fields_v1": (
        f"{_META}FieldsV1",
        {"description": "A set of field paths, as server-side apply writes it.", "type": "object"},
    ),
    "json": (
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        {"description": "Any JSON value."},
    ),
}
"""Scalar → the name and the body of the definition it refers to."""

_PLAIN: dict[str, Object] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "duration": {"type": "string"},
    "any": {"type": "object"},
}
_ZERO: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0}


class Definitions:
    """The definitions of one document; grows by what is referred to."""

    def __init__(self, group: str, version: str) -> None:
        self._group, self._version = group, version
        self._waiting: list[type[KubeSchema]] = []
        self.schemas: dict[str, Object] = {}

    def refer(self, schema: type[KubeSchema]) -> Object:
        """Return a reference to a schema, and see to it that its definition is there."""
        name = schema.openapi_name()
        if name not in self.schemas:
            self.schemas[name] = {}
            self._waiting.append(schema)
        return {"$ref": _PREFIX + name}

    def refer_special(self, scalar: str) -> Object:
        """Return a reference to a scalar with a definition of its own."""
        name, body = SPECIAL[scalar]
        self.schemas.setdefault(name, body)
        return {"$ref": _PREFIX + name}

    def finish(self) -> dict[str, Object]:
        """Write all definitions that were referred to, by name."""
        while self._waiting:
            schema = self._waiting.pop()
            self.schemas[schema.openapi_name()] = self._definition(schema)
        return dict(sorted(self.schemas.items()))

    def _definition(self, schema: type[KubeSchema]) -> Object:
        from hyperkube_lib.component_base.lean_bytecode import documentation  # a start has no use for it

        out: Object = {"description": documentation(schema)}
        if schema.shape:
            return out
        out["type"] = "object"
        fields = members(schema)
        required = [name for name, field in fields.items() if field.required]
        if required:
            out["required"] = required
        properties = {name: self._property(field) for name, field in sorted(fields.items())}
        if properties:
            out["properties"] = properties
        if schema.kinded:
            out["x-kubernetes-group-version-kind"] = [self._kind_of(schema)]
        if schema.struct_type:
            out["x-kubernetes-map-type"] = schema.struct_type
        if schema.unions:
            out["x-kubernetes-unions"] = [
                ({"discriminator": union.discriminator} if union.discriminator else {})
                | {"fields-to-discriminateBy": union.members}
                for union in schema.unions
            ]
        return out

    def _kind_of(self, schema: type[KubeSchema]) -> Object:
        group, version = schema.package.group, schema.package.version
        if schema.every_group:
            group, version = self._group, self._version
        return {"group": group, "kind": schema.__name__, "version": version}

    def _property(self, field: KubeField) -> Object:
        out: Object = {"description": field.doc} if field.doc else {}
        reference = self._reference(field)
        default = _default(field)
        if reference is None:
            out |= self._value(field)
            if default is not None:
                out["default"] = default
            if field.enum and not isinstance(field, List):
                out["enum"] = list(field.enum)
                if field.doc:
                    out["description"] = with_values(field.doc, field.enum)
        else:
            if default is not None:
                out["default"] = default
            out["allOf"] = [reference]
        return out | _extensions(field)

    def _reference(self, field: KubeField) -> Object | None:
        if isinstance(field, Struct):
            return self.refer(field.schema())
        return self.refer_special(field.scalar) if field.scalar in SPECIAL else None

    def _value(self, field: KubeField) -> Object:
        """Return the type of a value that is no reference."""
        if isinstance(field, List):
            items = self._item(field.items)
            if field.enum:
                items["enum"] = list(field.enum)
            return {"type": "array", "items": items}
        if isinstance(field, Map):
            return {"type": "object", "additionalProperties": self._item(field.items)}
        return dict(_PLAIN[field.scalar]) | ({"format": field.format} if field.format else {})

    def _item(self, field: KubeField) -> Object:
        return self._reference(field) or self._value(field)


def _default(field: KubeField) -> Any:
    """Return what OpenAPI shows as the default: the declared one, else what Go writes for an unset member."""
    if field.default is not None:
        return field.default
    if field.ptr:
        return None
    if isinstance(field, Struct):
        return {}
    return None if field.omitempty or isinstance(field, List | Map) else _ZERO.get(field.scalar)


def _extensions(field: KubeField) -> Object:
    values = {
        "x-kubernetes-list-map-keys": list(field.list_map_keys),
        "x-kubernetes-list-type": field.list_type,
        "x-kubernetes-map-type": field.map_type or field.struct_type,
        "x-kubernetes-patch-merge-key": field.patch_merge_key,
        "x-kubernetes-patch-strategy": field.patch_strategy,
    }
    return {name: value for name, value in values.items() if value}
