"""Declared defaults, applied wherever a type with one occurs.

Only the ways that lead to a default are compiled, so an object without any costs a few dictionary look-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import members

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema

Defaulter = Callable[[Any], None]


def has_defaults(schema: type[KubeSchema]) -> bool:
    """Tell whether a default is declared in the schema or anywhere below it."""
    seen: set[type[KubeSchema]] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for field in members(current).values():
            if matters(field):
                return True
            inner = _struct_of(field)
            if inner is not None:
                waiting.append(inner.schema())
    return False


def matters(field: KubeField) -> bool:
    """Tell whether a field has a default that changes an object: not the zero value of what is left out anyway."""
    return field.default is not None and (field.ptr or bool(field.default))


def _struct_of(field: KubeField) -> Struct | None:
    while isinstance(field, List | Map):
        field = field.items
    return field if isinstance(field, Struct) else None


def defaulter(schema: type[KubeSchema], cache: dict[type[KubeSchema], Defaulter | None]) -> Defaulter | None:
    """Return a function that fills in the declared defaults of an object in place, or None if there are none.

    Args:
        schema: the type of the object.
        cache: what was already made for the types below; types may contain themselves.
    """
    if schema in cache:
        return cache[schema]
    if schema.shape or not has_defaults(schema):
        cache[schema] = None
        return None
    values: list[tuple[str, Any]] = []
    below: list[tuple[str, Defaulter]] = []
    cache[schema] = fill = _filler(values, below)
    for name, field in members(schema).items():
        if matters(field):
            values.append((name, field.default))
        inner = _walker(field, cache)
        if inner is not None:
            below.append((name, inner))
    return fill


def _filler(values: list[tuple[str, Any]], below: list[tuple[str, Defaulter]]) -> Defaulter:
    """Return a function that sets the missing ones of `values` and goes `below`; both lists are filled in later."""

    def fill(obj: Any) -> None:
        if obj.__class__ is not dict:
            return
        for name, value in values:
            if obj.get(name) is None:
                obj[name] = value
        for name, inner in below:
            part = obj.get(name)
            if part:
                inner(part)

    return fill


def _walker(field: KubeField, cache: dict[type[KubeSchema], Defaulter | None]) -> Defaulter | None:
    if isinstance(field, Struct):
        return defaulter(field.schema(), cache)
    if not isinstance(field, List | Map):
        return None
    inner = _walker(field.items, cache)
    if inner is None:
        return None
    is_list = isinstance(field, List)

    def walk(value: Any) -> None:
        for item in value if is_list else value.values():
            inner(item)

    return walk
