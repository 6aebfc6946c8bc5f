"""How large the values of a schema can get, which bounds what an expression over them can cost.

Source: kubernetes apiserver ``pkg/cel/common/schemas.go``, ``pkg/cel/limits.go``, ``pkg/cel/types.go``;
apiextensions-apiserver ``pkg/apiserver/schema/cel/{compilation,model/schemas}.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from hyperkube_lib.cel.structural import JsonSchema, escape

from hyperkube.machinery.dataclass import dataclass

MAX_REQUEST = 3 * 1024 * 1024
"""Bytes of the largest request that estimates reckon with."""

ITEMS, KEYS, VALUES = "@items", "@keys", "@values"
_LONGEST = {"duration": 32, "date": 12, "date-time": 32}
_SHORTEST = {"duration": 3, "date": 12, "date-time": 21}
_SCALARS = {"boolean": 4, "number": 1, "integer": 1}
_MIN_STRING = 2
_UTF8 = 4


@dataclass(frozen=True, slots=True)
class Size:
    """The largest value of a schema, and the shortest JSON of one.

    Attributes:
        most: items of a list, entries of a map, characters of a string; nought for everything else.
        shortest: bytes of the shortest JSON.
        below: the sizes of what it is made of: fields by the name expressions use, `ITEMS`, or `KEYS` and `VALUES`.
    """

    most: int
    shortest: int
    below: Mapping[str, Size] = field(default_factory=dict)

    def at(self, path: tuple[str, ...]) -> Size | None:
        """Return the size of a part, None when nothing is known of it."""
        found: Size | None = self
        for name in path:
            found = found.below.get(name) if found is not None else None
        return found

    @property
    def cardinality(self) -> int:
        """How many such values fit into one request."""
        return MAX_REQUEST // (self.shortest + 1)


def size_of(schema: JsonSchema, *, root: bool = False) -> Size | None:
    """Return the size of the values of a schema, None where expressions cannot speak of them.

    Args:
        schema: a structural schema.
        root: whether this is an object of its own, with apiVersion, kind and metadata.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return Size(_characters(schema), 1)
    kind = schema.get("type")
    if kind == "array":
        return _list(schema)
    if kind == "object" or root:
        return _object(schema, root=root)
    if kind == "string":
        return _string(schema)
    return Size(0, _SCALARS[str(kind)]) if kind in _SCALARS else None


def _nested(schema: JsonSchema) -> Size | None:
    return size_of(schema, root=bool(schema.get("x-kubernetes-embedded-resource")))


def _characters(schema: JsonSchema) -> int:
    longest = schema.get("maxLength")
    return max(longest, 0) * _UTF8 if longest is not None else MAX_REQUEST - 2


def _string(schema: JsonSchema) -> Size:
    form, longest = str(schema.get("format") or ""), schema.get("maxLength")
    if form in _LONGEST:
        return Size(_LONGEST[form], _SHORTEST[form])
    if form == "byte":
        return Size(max(longest, 0) if longest is not None else MAX_REQUEST - 2, _MIN_STRING)
    allowed = schema.get("enum")
    if longest is None and allowed:
        return Size(max((len(one.encode()) for one in allowed if isinstance(one, str)), default=0), _MIN_STRING)
    return Size(_characters(schema), _MIN_STRING)


def _list(schema: JsonSchema) -> Size | None:
    items, most = schema.get("items"), schema.get("maxItems")
    item = _nested(items) if isinstance(items, dict) else None
    if item is None:
        return None
    return Size(max(most, 0) if most is not None else (MAX_REQUEST - 2) // (item.shortest + 1), 2, {ITEMS: item})


def _map(schema: JsonSchema, values: JsonSchema) -> Size | None:
    value, most = _nested(values), schema.get("maxProperties")
    if value is None:
        return None
    entries = max(most, 0) if most is not None else (MAX_REQUEST - 2) // (value.shortest + 6)
    return Size(entries, 2, {KEYS: Size(0, _MIN_STRING), VALUES: value})


def _object(schema: JsonSchema, *, root: bool) -> Size | None:
    values = schema.get("additionalProperties")
    if isinstance(values, dict):
        return _map(schema, values)
    below, shortest, needed = dict[str, Size](), 2, set(schema.get("required") or ())
    for name, inner in _properties(schema, root=root):
        size = _nested(inner)
        if size is None:
            continue
        escaped = escape(name)
        if escaped is not None:
            below[escaped] = size
        if name in needed and "default" not in inner:
            shortest += len(name.encode()) + size.shortest + 4
    return Size(0, shortest, below)


def _properties(schema: JsonSchema, *, root: bool) -> Iterator[tuple[str, JsonSchema]]:
    properties = dict(schema.get("properties") or {})
    if root:
        text = {"type": "string"}
        meta = {"type": "object", "properties": {"name": text, "generateName": text}}
        properties |= {"apiVersion": text, "kind": text, "metadata": meta}
    yield from properties.items()
