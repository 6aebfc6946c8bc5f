"""Lists that are sets or maps: none of their items occurs twice.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/listtype/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hyperkube_lib.structural_schema.structure import JsonSchema, has_anywhere

from hyperkube.machinery.field import FieldError, Path, duplicate, invalid

_KIND, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def has_sets(schema: JsonSchema) -> bool:
    """Tell whether a schema has sets or maps anywhere, in which something may be `repeated`."""
    return has_anywhere(schema, lambda inner: inner.get(_KIND) in {"set", "map"})


def repeated(value: Any, schema: JsonSchema, path: Path) -> list[FieldError]:
    """Return what occurs twice in the sets and maps within a value."""
    return list(_repeated(value, schema, path))


def _repeated(value: Any, schema: JsonSchema, path: Path) -> Iterator[FieldError]:
    if isinstance(value, list):
        yield from _items(value, schema, path)
        items = schema.get("items")
        for index, item in enumerate(value):
            if isinstance(items, dict):
                yield from _repeated(item, items, path.index(index))
    elif isinstance(value, dict):
        properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
        for name in sorted(value):
            if isinstance(values, dict):
                yield from _repeated(value[name], values, path.key(name))
            if name in properties:
                yield from _repeated(value[name], properties[name], path.child(name))


def _items(value: list[Any], schema: JsonSchema, path: Path) -> Iterator[FieldError]:
    kind, keys = schema.get(_KIND), schema.get(_KEYS) or ()
    identities: Sequence[Any] = value
    if kind == "map":
        for index, item in enumerate(value):
            if item is not None and not isinstance(item, dict):
                yield invalid(path.index(index), item, "must be an object for an array of list-type map")
                return
        identities = [{key: item[key] for key in keys if key in item} if item else {} for item in value]
    elif kind != "set":
        return
    for index in _second_ones(identities):
        yield duplicate(path.index(index), identities[index])


def _second_ones(identities: Sequence[Any]) -> Iterator[int]:
    """Return where something occurs for the second time; further times are not told."""
    times: dict[str, int] = {}
    for index, identity in enumerate(identities):
        known = _form(identity)
        times[known] = times.get(known, 0) + 1
        if times[known] == 2:
            yield index


def _form(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{name!r}:{_form(value[name])}" for name in sorted(value)) + "}"
    return "[" + ",".join(map(_form, value)) + "]" if isinstance(value, list) else repr(value)
