"""The three parts of a JSON schema that are either an object or something simpler.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/v1/marshal.go``.
"""

from __future__ import annotations

from typing import Any

from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.convert import Codecs, converter
from hyperkube.machinery.schema.fields import List, Struct
from hyperkube.machinery.schema.mismatch import DecodeError, TypeMismatch, shown
from hyperkube.machinery.schema.scalars import Converter


def object_schema(schema: type[KubeSchema]) -> type[KubeSchema]:
    """Return the schema of the object form."""
    field = next(field for field in schema.declared().values() if isinstance(field, Struct))
    return field.schema()


def shaped(shape: str, schema: type[KubeSchema], codecs: Codecs) -> Converter:
    """Return the decoder of a schema with the shape ``array``, ``bool`` or ``strings``."""
    codec = codecs(object_schema(schema))
    list_field = next((field for field in schema.declared().values() if isinstance(field, List)), None)
    items = converter(list_field, codecs, list) if list_field else None

    def decode(value: Any, seen: list[str] | None) -> Any:
        if value.__class__ is dict:
            return codec.decode(value, seen)
        if value.__class__ is list and items is not None:
            return items(value, seen)
        if shape == "bool":
            if value.__class__ is bool:
                return value
            raise DecodeError("boolean or JSON schema expected")
        raise TypeMismatch(shown(value), f"v1.{schema.__name__}")

    return decode
