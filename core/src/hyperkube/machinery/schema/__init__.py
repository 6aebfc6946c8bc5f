"""Schemas: each API type is declared once, and everything that knows its members is made from the declaration.

`compile_schema("hyperkube_api.core.v1:Pod")` gives a `CompiledSchema` that decodes, defaults and describes Pods.
"""

from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.compiled import CompiledSchema, compile_schema
from hyperkube.machinery.schema.kube_object import KubeObject
from hyperkube.machinery.schema.lookup import SchemaType, TypeInfo
from hyperkube.machinery.schema.mismatch import DecodeError
from hyperkube.machinery.schema.reference import resolve
from hyperkube.machinery.schema.traits import Package

compile = compile_schema  # noqa: A001 -- read as `schema.compile`

__all__ = [
    "CompiledSchema",
    "DecodeError",
    "KubeObject",
    "KubeSchema",
    "Package",
    "SchemaType",
    "TypeInfo",
    "compile",
    "compile_schema",
    "resolve",
]
