"""Bytes that are there but empty: Go tells them from bytes that are missing, its JSON does not.

Kubernetes stores an empty ``caBundle`` that a client wrote, and leaves it out of every answer. The client that writes
back what it read has therefore changed the object: its generation grows. Here such a member is kept in the stored JSON
as ``""`` and taken away from what is shown.

Source: kubernetes ``pkg/registry/admissionregistration/validatingwebhookconfiguration/strategy.go``,
gogo's generated ``Unmarshal`` of bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema.base import KubeSchema
from hyperkube.machinery.schema.fields import Bytes, List, Struct
from hyperkube.machinery.schema.structs import members

Place = tuple[str, ...]
"""Names of members from the root; lists on the way are passed through."""


class Blanks:
    """The members of a kind that are shown only when they are not empty.

    Attributes:
        places: where they are; empty for nearly all kinds, and then every method returns what it was given.
    """

    __slots__ = ("_marks", "places")

    def __init__(self, places: Iterable[Place] = ()) -> None:
        self.places = frozenset(places)
        self._marks = {f'"{place[-1]}":""'.encode() for place in self.places}

    def __bool__(self) -> bool:
        return bool(self.places)

    def __or__(self, other: Blanks) -> Blanks:
        return Blanks(self.places | other.places)

    def shown(self, obj: Object) -> Object:
        """Return an object without its empty members; what stays the same is shared with the argument."""
        for place in self.places:
            obj = _without(obj, place)
        return obj

    def shown_body(self, body: bytes) -> bytes:
        """Return the JSON of an object without its empty members."""
        if not any(mark in body for mark in self._marks):
            return body
        return orjson.dumps(self.shown(orjson.loads(body)))


def blanks_of(schema: type[KubeSchema]) -> Blanks:
    """Return the blanks of a kind: its members of type bytes that JSON leaves out when they are empty."""
    return Blanks(_places(schema, (), frozenset()))


def _places(schema: type[KubeSchema], above: Place, seen: frozenset[type[KubeSchema]]) -> Iterable[Place]:
    if schema in seen or schema.shape:
        return
    for name, field in members(schema).items():
        inner = field.items if isinstance(field, List) else field
        if isinstance(field, Bytes) and field.omitempty:
            yield (*above, name)
        elif isinstance(inner, Struct):
            yield from _places(inner.schema(), (*above, name), seen | {schema})


def _without(value: Any, place: Place) -> Any:
    if isinstance(value, list):
        return _same_or([_without(item, place) for item in value], value)
    if not isinstance(value, dict) or place[0] not in value:
        return value
    name, below = place[0], place[1:]
    found = value[name]
    if not below:
        return {key: item for key, item in value.items() if key != name} if found == "" else value
    inner = _without(found, below)
    return value if inner is found else {**value, name: inner}


def _same_or(items: list[Any], given: list[Any]) -> list[Any]:
    return given if all(item is old for item, old in zip(items, given, strict=True)) else items
