"""Structural schemas as types, and JSON values as the values those types promise.

Source: kubernetes apiserver ``pkg/cel/common/schemas.go``, ``pkg/cel/common/values.go``, ``pkg/cel/escaping.go``.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from hyperkube_lib.cel.library.conversions import to_duration, to_timestamp
from hyperkube_lib.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    list_of,
    map_of,
    struct,
)
from hyperkube_lib.cel.values import MapList, SetList

JsonSchema: TypeAlias = Mapping[str, Any]
Convert: TypeAlias = Callable[[Any], Any]
_RESERVED = frozenset(
    {
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while"),
    }
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
_SYMBOLS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_FORMATS = {"byte": BYTES, "duration": DURATION, "date": TIMESTAMP, "date-time": TIMESTAMP}
_SCALARS = {"boolean": BOOL, "integer": INT, "number": DOUBLE}
_META = struct("metadata", {"name": STRING, "generateName": STRING})


def escape(name: str) -> str | None:
    """Return a property's name as expressions write it, None when they cannot."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _NAME.fullmatch(name):
        return None
    return re.sub(r"__|[./-]", lambda match: _SYMBOLS[match.group()], name)


def declared(schema: JsonSchema, *, root: bool = False) -> Type | None:
    """Return the type of the values of a schema, None when it says too little.

    Args:
        schema: a structural schema.
        root: whether this is an object of its own, with apiVersion, kind and metadata.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return DYN
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        item = declared(items, root=_embedded(items)) if isinstance(items, dict) else None
        return list_of(item) if item is not None else None
    if kind == "object" or root:
        return _object(schema, root=root)
    if kind == "string":
        return _FORMATS.get(str(schema.get("format") or ""), STRING)
    return _SCALARS.get(str(kind))


def _embedded(schema: JsonSchema) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _object(schema: JsonSchema, *, root: bool) -> Type | None:
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and not root:
        value = declared(values, root=_embedded(values))
        return map_of(STRING, value) if value is not None else None
    fields: dict[str, Type] = {}
    for name, inner in (schema.get("properties") or {}).items():
        escaped, found = escape(name), declared(inner, root=_embedded(inner))
        if escaped is not None and found is not None:
            fields[escaped] = found
    if root:
        fields |= {"apiVersion": STRING, "kind": STRING, "metadata": _META}
    return struct("object", fields)


def converter(schema: JsonSchema) -> Convert | None:
    """Return what makes JSON of a schema into values of its type; None when they are the same."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    kind = schema.get("type")
    if kind == "array":
        return _list_converter(schema)
    if kind == "object":
        return _object_converter(schema)
    if kind == "number":
        return lambda value: float(value) if type(value) is int else value
    if kind == "string":
        return _string_converter(_FORMATS.get(str(schema.get("format") or "")), str(schema.get("format")))
    return None


def _string_converter(given: Type | None, form: str) -> Convert | None:
    if given is None:
        return None
    makers: dict[Type, Convert] = {BYTES: b64decode, DURATION: to_duration, TIMESTAMP: to_timestamp}
    make = makers[given]
    suffix = "T00:00:00Z" if form == "date" else ""
    return lambda value: make(value + suffix) if isinstance(value, str) else value


def _list_converter(schema: JsonSchema) -> Convert | None:
    items = schema.get("items")
    one = converter(items) if isinstance(items, dict) else None
    kind, keys = schema.get("x-kubernetes-list-type"), tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if one is None and kind not in {"set", "map"}:
        return None

    def convert(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        made = [one(item) for item in value] if one is not None else value
        return SetList(made) if kind == "set" else MapList(made, keys) if kind == "map" else made

    return convert


def _object_converter(schema: JsonSchema) -> Convert | None:
    values = schema.get("additionalProperties")
    each = converter(values) if isinstance(values, dict) else None
    changes: dict[str, tuple[str, Convert | None]] = {}
    nullable = {name for name, inner in (schema.get("properties") or {}).items() if inner.get("nullable")}
    for name, inner in (schema.get("properties") or {}).items():
        escaped, change = escape(name) or name, converter(inner)
        if escaped != name or change is not None:
            changes[name] = (escaped, change)
    if each is None and not changes and not nullable:
        return None

    def convert(value: Any) -> Any:
        """Return an object as rules see it: a member that is null is none."""
        if not isinstance(value, dict):
            return value
        made: dict[str, Any] = {}
        for name, item in value.items():
            if item is None and name in nullable:
                continue
            escaped, change = changes.get(name, (name, each))
            made[escaped] = change(item) if change is not None and item is not None else item
        return made

    return convert
