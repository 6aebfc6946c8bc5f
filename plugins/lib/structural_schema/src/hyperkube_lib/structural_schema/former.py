"""A value beside what it was: what did not change may stay as wrong as it is.

A list is compared item by item in its order, by its keys where it is a map, and as a whole where it is atomic or a set.

Source: kubernetes apiserver ``pkg/cel/common/equality.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonSchema = Mapping[str, Any]
_KIND, _KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


class Former:
    """A value, what stood in its place before, and the schema of both.

    What is asked of a list once for each of its items is found once: the answer must cost no more than the list.

    Attributes:
        value: any JSON value.
        old: what it was.
        schema: the structural schema of both.
    """

    __slots__ = ("_keyed", "_same", "old", "schema", "value")

    def __init__(self, value: Any, old: Any, schema: JsonSchema) -> None:
        self.value, self.old, self.schema = value, old, schema
        self._same: bool | None = None
        self._keyed: dict[tuple[str, ...], Any] | None = None

    @property
    def same(self) -> bool:
        """Whether nothing changed; never so for members that no schema speaks of."""
        if self._same is None:
            self._same = _same(self.value, self.old, self.schema)
        return self._same

    def key(self, name: str) -> Former | None:
        """Return a member beside what it was; None when it is new or unknown."""
        if not isinstance(self.value, dict) or not isinstance(self.old, dict):
            return None
        schema = _member(self.schema, name)
        if schema is None or name not in self.old or name not in self.value:
            return None
        return Former(self.value[name], self.old[name], schema)

    def index(self, index: int) -> Former | None:
        """Return an item beside what it was; None when that cannot be told."""
        items = self.schema.get("items")
        if not isinstance(self.value, list) or not isinstance(self.old, list) or not isinstance(items, dict):
            return None
        kind, item, old = self.schema.get(_KIND), self.value[index], None
        if kind == "map":
            if self._keyed is None:
                self._keyed = keyed(self.old, self.schema)
            old = self._keyed.get(key_of(item, self.schema))
        elif kind not in {"set", "atomic"} and index < len(self.old):
            old = self.old[index]
        return Former(item, old, items) if old is not None else None


def key_of(item: Any, schema: JsonSchema) -> tuple[str, ...]:
    """Return what an item of a list that is a map is known by."""
    if not isinstance(item, dict):
        return ()
    return tuple(repr(item.get(key)) for key in schema.get(_KEYS) or ())


def keyed(items: list[Any], schema: JsonSchema) -> dict[tuple[str, ...], Any]:
    """Return the items of a list that is a map by their keys; the first of each key counts."""
    found: dict[tuple[str, ...], Any] = {}
    for item in items:
        found.setdefault(key_of(item, schema), item)
    return found


def _member(schema: JsonSchema, name: str) -> JsonSchema | None:
    found = (schema.get("properties") or {}).get(name, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else None


def _same(value: Any, old: Any, schema: JsonSchema) -> bool:
    if isinstance(value, dict) and isinstance(old, dict):
        if value.keys() != old.keys():
            return False
        known = ((name, _member(schema, name)) for name in value)
        return all(inner is not None and _same(value[name], old[name], inner) for name, inner in known)
    if isinstance(value, list) and isinstance(old, list):
        return len(value) == len(old) and _same_items(value, old, schema)
    return type(value) is type(old) and bool(value == old)


def _same_items(value: list[Any], old: list[Any], schema: JsonSchema) -> bool:
    kind, items = schema.get(_KIND), schema.get("items")
    if kind in {"set", "atomic"} or not isinstance(items, dict):
        return value == old
    if kind == "map":
        before = keyed(old, schema)
        found = ((item, before.get(key_of(item, schema))) for item in value)
        return all(was is not None and _same(item, was, items) for item, was in found)
    return all(_same(item, was, items) for item, was in zip(value, old, strict=True))
