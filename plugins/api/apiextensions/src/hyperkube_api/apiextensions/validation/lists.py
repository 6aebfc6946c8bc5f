"""Validation of the types of lists and maps in a schema, and of the keys of lists that are maps.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube_api.apiextensions.validation.internal import shown_items

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

_TYPE, _KEYS, _MAP = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"


def map_type(path: Path, schema: Object) -> Iterator[FieldError]:
    """Check the type of a map."""
    value = schema.get(_MAP)
    if value is not None:
        yield from _of_type(path, schema, "object", _MAP)
        if value not in {"atomic", "granular"}:
            yield not_supported(path.child(_MAP), value, ("atomic", "granular"))


def _of_type(path: Path, schema: Object, wanted: str, member: str) -> Iterator[FieldError]:
    kind, at, text = schema.get("type") or "", path.child("type"), f"must be {wanted} if {member} is specified"
    if kind != wanted:
        yield invalid(at, kind, text) if kind else required(at, text)


def list_type(path: Path, schema: Object, *, atomic_sets: bool) -> Iterator[FieldError]:
    """Check the type of a list; `atomic_sets` asks for items of sets that are compared as a whole."""
    value, keys, items = schema.get(_TYPE), schema.get(_KEYS) or [], schema.get("items")
    if value is not None and schema.get("type") != "array":
        yield from _of_type(path, schema, "array", _TYPE)
    elif atomic_sets and value == "set" and isinstance(items, dict):
        yield from _set_items(path.child("items"), items)
    if value is not None and value not in {"atomic", "set", "map"}:
        yield not_supported(path.child(_TYPE), value, ("atomic", "set", "map"))
    if keys and value != "map":
        at, text = path.child(_TYPE), f"must be map if {_KEYS} is non-empty"
        yield required(at, text) if value is None else invalid(at, value, text)
    if value == "map":
        yield from _keyed(path, schema, keys)


def _set_items(path: Path, items: Object) -> Iterator[FieldError]:
    text = f"must be atomic as item of a list with {_TYPE}=set"
    kind, inner = items.get("type"), items.get(_TYPE)
    if kind == "array" and inner not in {None, "atomic"}:
        yield invalid(path.child(_TYPE), inner, text)
    if kind == "object" and items.get(_MAP) != "atomic":
        yield invalid(path.child(_MAP), inner, text)


def _keyed(path: Path, schema: Object, keys: list[str]) -> Iterator[FieldError]:
    items = schema.get("items")
    if not keys:
        yield required(path.child(_KEYS), f"must not be empty if {_TYPE} is map")
    if items is None:
        yield required(path.child("items"), f"must have a schema if {_TYPE} is map")
        return
    if isinstance(items, list):
        text = f"must only have a single schema if {_TYPE} is map"
        yield invalid(path.child("items"), shown_items(items), text)
        return
    kind, properties = items.get("type") or "", items.get("properties") or {}
    if kind != "object":
        text = f"must be object if parent array's {_TYPE} is map"
        yield invalid(path.child("items", "type"), kind, text)
        return
    seen: set[str] = set()
    for key in keys:
        if key not in properties:
            yield invalid(path.child(_KEYS), keys, "entries must all be names of item properties")
        elif properties[key].get("type") in {"array", "object"}:
            text = f"must be a scalar type if parent array's {_TYPE} is map"
            yield invalid(path.child("items", "properties").key(key).child("type"), kind, text)
        if key in seen:
            yield invalid(path.child(_KEYS), keys, "must not contain duplicate entries")
        seen.add(key)


def identified_items(path: Path, schema: Object) -> Iterator[FieldError]:
    """Check that the items of a set or map, and their keys, can never be null or missing."""
    value, items = schema.get(_TYPE), schema.get("items")
    if value not in {"set", "map"} or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield forbidden(path.child("items", "nullable"), f"cannot be nullable when {_TYPE} is {value}")
    if value == "set":
        return
    properties, always = items.get("properties") or {}, set(items.get("required") or ())
    for key in schema.get(_KEYS) or ():
        at, declared = path.child("items", "properties").key(key), properties.get(key)
        if declared is None:
            continue
        if key not in always and declared.get("default") is None:
            text = f"this property is in {_KEYS}, so it must have a default or be a required property"
            yield required(at.child("default"), text)
        if declared.get("nullable"):
            text = f"this property is in {_KEYS}, so it cannot be nullable"
            yield forbidden(at.child("nullable"), text)


def has_other_sets(schema: Object) -> bool:
    """Return whether a list is a set of items that are not compared as a whole."""
    items = schema.get("items")
    return schema.get(_TYPE) == "set" and isinstance(items, dict) and any(_set_items(Path(""), items))
