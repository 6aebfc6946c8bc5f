"""What a structural schema makes of a value: it drops what is not declared, and fills in what is left out.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/{pruning,defaulting}``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from hyperkube.machinery.errors import MOST_FIELD_ERRORS
from hyperkube.machinery.field import LONGEST_PATH
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema.mismatch import DecodeError

JsonSchema = Mapping[str, Any]
EMBEDDED = "x-kubernetes-embedded-resource"
KEEPS = "x-kubernetes-preserve-unknown-fields"
OWN = frozenset({"apiVersion", "kind", "metadata"})
"""Members that every object has, whether its schema declares them or not."""

_HOLDERS = (dict, list)
"""Types of values that have members: nothing is to be done in others, which are most."""

Metadata = Callable[[Any], tuple[Object, list[str]]]
"""Returns canonical metadata, and ``unknown field "PATH"`` for what does not belong into them."""


def has_anywhere(schema: JsonSchema, says: Callable[[JsonSchema], Any]) -> bool:
    """Tell whether a schema, or that of a member or item within it, says something; `says` looks at one of them."""
    if says(schema):
        return True
    below = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_anywhere(inner, says) for inner in below if isinstance(inner, dict))


def has_defaults(schema: JsonSchema) -> bool:
    """Tell whether there is anything to `fill` in."""
    return has_anywhere(schema, lambda inner: inner.get("default") is not None)


def prune(value: Any, schema: JsonSchema, metadata: Metadata, *, root: bool = False) -> list[str]:
    """Drop undeclared members in place; return ``unknown field "PATH"`` for each of the first thousand.

    Args:
        value: any JSON value.
        schema: what it should be.
        metadata: reads the metadata of embedded objects.
        root: whether the value is an object with a kind.
    """
    unknown: list[str] = []
    _prune(value, schema, "", unknown, metadata, at_root=root)
    return unknown


def _prune(
    value: Any, schema: JsonSchema, path: str, unknown: list[str], metadata: Metadata, *, at_root: bool = False
) -> None:
    if isinstance(value, list):
        items = schema.get("items")
        for index, item in enumerate(value):
            if isinstance(item, _HOLDERS) and isinstance(items, dict):
                _prune(item, items, f"{path}[{index}]"[:LONGEST_PATH], unknown, metadata)
        return
    if not isinstance(value, dict):
        return
    embedded = bool(schema.get(EMBEDDED))
    if embedded and isinstance(value.get("metadata"), dict):
        value["metadata"], errors = _read_metadata(value["metadata"], f"{path}.metadata", metadata)
        unknown += [text.replace('field "', f'field "{path}.metadata.', 1) for text in errors]
    _prune_members(value, schema, path, unknown, metadata, own=at_root or embedded)


def _read_metadata(value: Object, path: str, metadata: Metadata) -> tuple[Object, list[str]]:
    """Return the metadata of an embedded object.

    Raises:
        DecodeError: they have a wrong type; the text says where, and shows them.
    """
    given = copy_object(value)
    try:
        return metadata(value)
    except DecodeError as error:
        text = json.dumps(given, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
        raise DecodeError(f"{path}: Invalid value: {text}: {error}") from error


def _prune_members(
    value: Object, schema: JsonSchema, path: str, unknown: list[str], metadata: Metadata, *, own: bool
) -> None:
    properties, values, keeps = schema.get("properties") or {}, schema.get("additionalProperties"), schema.get(KEEPS)
    for name, item in tuple(value.items()):
        if own and name in OWN:
            continue
        inner = properties.get(name)
        if inner is None and isinstance(values, dict):
            inner = values
        elif inner is None and keeps:
            continue
        elif inner is None and values:  # any value, of which nothing is declared
            inner = {}
        if inner is None:
            del value[name]
            if len(unknown) < MOST_FIELD_ERRORS:
                unknown.append(f'unknown field "{_within(path, name)}"')
        elif isinstance(item, _HOLDERS):
            _prune(item, inner, _within(path, name), unknown, metadata)


def _within(path: str, name: str) -> str:
    return (f"{path}.{name}" if path else name)[:LONGEST_PATH]


def drop_nulls(value: Any, schema: JsonSchema | None) -> None:
    """Take nulls away, in place, that are not allowed and that no default stands for."""
    if not schema:
        return
    if isinstance(value, list):
        for item in value:
            drop_nulls(item, schema.get("items"))
    if not isinstance(value, dict):
        return
    properties, values = _declared(schema)
    for name, item in tuple(value.items()):
        inner = properties.get(name, values)
        if inner is None:
            continue
        if isinstance(item, _HOLDERS):
            drop_nulls(item, inner)
        elif item is None and not inner.get("nullable") and inner.get("default") is None:
            del value[name]


def _declared(schema: JsonSchema) -> tuple[Mapping[str, JsonSchema], JsonSchema | None]:
    """Return the schemas of members by name, and that of all others, None where there is none."""
    values = schema.get("additionalProperties")
    return schema.get("properties") or {}, values if isinstance(values, dict) else None


def fill(value: Any, schema: JsonSchema | None) -> None:
    """Fill in declared defaults, in place; null where it is not allowed counts as absent."""
    if not schema:
        return
    if isinstance(value, dict):
        _fill_members(value, schema)
    elif isinstance(value, list) and (items := schema.get("items")):
        for index, item in enumerate(value):
            if item is None and not items.get("nullable"):
                value[index] = _default(items)
            fill(value[index], items)


def _fill_members(value: Object, schema: JsonSchema) -> None:
    properties, values = _declared(schema)
    for name, inner in properties.items():
        if inner.get("default") is not None and _is_open(value, name, inner):
            value[name] = _default(inner)
    for name, item in value.items():
        found = properties.get(name, values)
        if isinstance(item, _HOLDERS):
            fill(item, found)
        elif item is None and found is not None and name not in properties and not found.get("nullable"):
            value[name] = _default(found)
            fill(value[name], found)


def _is_open(value: Object, name: str, schema: JsonSchema) -> bool:
    return name not in value or (value[name] is None and not schema.get("nullable"))


def _default(schema: JsonSchema) -> Any:
    return copy_object({"": schema.get("default")})[""]
