"""Lists without items, as they come back from Kubernetes' store.

Kubernetes keeps built-in objects as protobuf, which does not tell an empty list from one that is missing. Where JSON
always writes the member (Go's tag has no ``omitempty``) a client that sent ``[]`` is therefore answered ``null``.

Source: kubernetes ``apimachinery/pkg/runtime/serializer/protobuf``, ``apiserver/pkg/storage/etcd3/store.go`` (Create
decodes what it stored) and ``pkg/registry/generic/registry/dryrun.go`` (copyInto).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import orjson

from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import List, Struct
from hyperkube.machinery.schema.structs import members

Places: TypeAlias = "dict[str, Place]"
"""Members by name that are such lists, or have them below."""


class Place(NamedTuple):
    """A member on the way to a list that JSON always has.

    Attributes:
        is_written: whether it is such a list itself.
        below: the members of its items, or of itself if it is an object.
    """

    is_written: bool
    below: Places


def nil_lists(schema: type[KubeSchema], seen: frozenset[type[KubeSchema]] = frozenset()) -> Places:
    """Return where objects of a schema have lists that are written even when they are missing."""
    if schema in seen or schema.shape:
        return {}
    places: Places = {}
    for name, field in members(schema).items():
        is_list = isinstance(field, List)
        inner = field.items if isinstance(field, List) else field
        below = nil_lists(inner.schema(), seen | {schema}) if isinstance(inner, Struct) else {}
        is_written = is_list and not field.omitempty
        if is_written or below:
            places[name] = Place(is_written, below)
    return places


def with_nil_lists(obj: Object, places: Places, old: Object | None = None) -> Object:
    """Return an object with null for such lists that are empty; what stays the same is shared with the argument.

    Members that are those of the stored object `old` are not looked at.
    """
    fresh = [value for name, value in obj.items() if name in places and (old is None or value is not old.get(name))]
    return _with_nil_lists(obj, places) if fresh and b"[]" in orjson.dumps(fresh) else obj


def _with_nil_lists(obj: Object, places: Places) -> Object:
    changed: Object = {}
    for name, place in places.items():
        value = obj.get(name)
        if value:
            new = _within(value, place.below) if place.below else value
        else:
            new = None if place.is_written and value == [] else value
        if new is not value:
            changed[name] = new
    return {**obj, **changed} if changed else obj


def _within(value: Any, places: Places) -> Any:
    if isinstance(value, list):
        items = [_with_nil_lists(item, places) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return _with_nil_lists(value, places)
