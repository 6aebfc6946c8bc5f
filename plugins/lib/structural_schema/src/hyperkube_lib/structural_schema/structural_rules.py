"""Structural schemas: every level says its type, and nothing that pruning could not follow.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/{convert,validation,complete}.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.objects import Object

ROOT_LEVEL, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_EITHER = ({"type": "integer"}, {"type": "string"})
_FORBIDDEN = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    _PRESERVE: "false",
    _EMBEDDED: "false",
    _INT_OR_STRING: "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}
"""What a schema under a junctor may not have → what it must be instead."""
_FALSE_IS_SOMETHING = frozenset({"additionalProperties", "default"})
_UNSUPPORTED = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "patternProperties": "patternProperties",
    "dependencies": "dependencies",
    "additionalItems": "additionalItems",
    "definitions": "definitions",
}
_OF_METADATA = frozenset({"type", "default", "externalDocs", "example"})
_NAMED = frozenset({"name", "generateName"})


def unsupported(schema: Object) -> str:
    """Return why there is no structural form of a schema at all, nothing if there is one."""
    for member, name in _UNSUPPORTED.items():
        value = schema.get(member)
        if value or (member == "additionalItems" and value is not None):
            return f"OpenAPIV3Schema '{name}' is not supported"
    if schema.get(_PRESERVE) is False:
        return f"internal error: '{_PRESERVE}' must be true or undefined"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    return next((why for inner in _all_below(schema) if (why := unsupported(inner))), "")


def _all_below(schema: Object) -> Iterator[Object]:
    for member in ("not", "items", "additionalProperties"):
        if isinstance(schema.get(member), dict):
            yield schema[member]
    for member in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(member) or ()
    yield from (schema.get("properties") or {}).values()


def validate_structure(path: Path, schema: Object) -> list[FieldError]:
    """Return what keeps a schema from being structural, in the order of the messages; its patterns are left alone."""
    errors = [*_invariants(path, schema, ROOT_LEVEL), *_complete_values(schema, schema, path, path)]
    return sorted(errors, key=str)


def _invariants(path: Path, schema: Object, level: str) -> Iterator[FieldError]:
    kind, items, values = schema.get("type") or "", schema.get("items"), schema.get("additionalProperties")
    embedded = bool(schema.get(_EMBEDDED))
    if kind == "array" and items is None:
        yield required(path.child("items"), "must be specified")
    if isinstance(items, dict):
        yield from _invariants(path.child("items"), items, ITEM)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _invariants(path.child("properties").key(name), inner, FIELD)
    if values is not None and level is ROOT_LEVEL:
        yield forbidden(path.child("additionalProperties"), "must not be used at the root")
    if isinstance(values, dict):
        yield from _invariants(path.child("additionalProperties"), values, FIELD)
    for member in (_PRESERVE, _EMBEDDED):
        if schema.get(_INT_OR_STRING) and schema.get(member):
            yield invalid(path.child(member), True, f"must be false if {_INT_OR_STRING} is true")
    yield from _restrictions(path, schema, level)
    yield from _types(path, schema, kind, level)
    if embedded and values is not None:
        yield forbidden(path.child("additionalProperties"), f"must not be used if {_EMBEDDED} is set")
    yield from _own_members(path, schema, level, embedded=embedded)
    if embedded and not schema.get(_PRESERVE) and not schema.get("properties"):
        text = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
        yield required(path.child("properties"), text)


def _types(path: Path, schema: Object, kind: str, level: str) -> Iterator[FieldError]:
    at = path.child("type")
    if schema.get(_EMBEDDED) and kind != "object":
        text = f"must be object if {_EMBEDDED} is true"
        yield invalid(at, kind, text) if kind else required(at, text)
    elif not kind and not schema.get(_INT_OR_STRING) and not schema.get(_PRESERVE):
        yield required(at, f"must not be empty {level}")
    if level is ROOT_LEVEL and kind and kind != "object":
        yield invalid(at, kind, "must be object at the root")


def _own_members(path: Path, schema: Object, level: str, *, embedded: bool) -> Iterator[FieldError]:
    """Check what a schema says of the members that every object has."""
    properties = schema.get("properties") or {}
    if level is ROOT_LEVEL or embedded:
        for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            kind = (properties.get(name) or {}).get("type") or ""
            if name in properties and kind != wanted:
                yield invalid(path.child("properties").key(name).child("type"), kind, f"must be {wanted}")
    metadata = properties.get("metadata")
    if level is not ROOT_LEVEL or metadata is None:
        return
    rest = {name: value for name, value in metadata.items() if name not in _OF_METADATA}
    if set(rest.get("properties") or ()) <= _NAMED:
        rest.pop("properties", None)
    if rest:
        text = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield forbidden(path.child("properties").key("metadata"), text)


def _is_either(schemas: Any) -> bool:
    return list(schemas or ()) == list(_EITHER)


def _restrictions(path: Path, schema: Object, level: str, *, nested: bool = False) -> Iterator[FieldError]:
    """Check that ``allOf``, ``anyOf``, ``oneOf`` and ``not`` only restrict; an integer or a string may be told so."""
    if nested or not _is_either(schema.get("anyOf")):
        for index, inner in enumerate(schema.get("anyOf") or ()):
            yield from _nested(path.child("anyOf").index(index), inner, level)
    for index, inner in enumerate(schema.get("allOf") or ()):
        spared = not nested and index == 0 and _is_either(inner.get("anyOf"))
        yield from _nested(path.child("allOf").index(index), inner, level, spared=spared)
    for index, inner in enumerate(schema.get("oneOf") or ()):
        yield from _nested(path.child("oneOf").index(index), inner, level)
    if isinstance(schema.get("not"), dict):
        yield from _nested(path.child("not"), schema["not"], level)


def _nested(path: Path, schema: Object, level: str, *, spared: bool = False) -> Iterator[FieldError]:
    inner = {name: value for name, value in schema.items() if name != "anyOf"} if spared else schema
    yield from _restrictions(path, inner, level, nested=True)
    if isinstance(schema.get("items"), dict):
        yield from _nested(path.child("items"), schema["items"], level)
    properties = schema.get("properties") or {}
    for name, inner in properties.items():
        yield from _nested(path.child("properties").key(name), inner, FIELD)
    for member, wanted in _FORBIDDEN.items():
        value = schema.get(member)
        if value or (member in _FALSE_IS_SOMETHING and value is not None):
            yield forbidden(path.child(member), f"must be {wanted} to be structural")
    if "metadata" in properties:
        yield forbidden(path.child("properties").key("metadata"), "must not be specified in a nested context")


def _complete_values(rule: Object, schema: Object, spath: Path, vpath: Path) -> Iterator[FieldError]:
    """Check that what restrictions speak of is declared outside of them."""
    if isinstance(rule.get("not"), dict):
        yield from _complete(rule["not"], schema, spath, vpath.child("not"))
    for member in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(rule.get(member) or ()):
            yield from _complete(inner, schema, spath, vpath.child(member).index(index))


def _complete(rule: Object, schema: Object | None, spath: Path, vpath: Path) -> Iterator[FieldError]:
    if schema is None:
        yield required(spath, f"because it is defined in {vpath}")
        return
    yield from _complete_values(rule, schema, spath, vpath)
    if isinstance(rule.get("items"), dict):
        items = schema.get("items")
        inside = items if isinstance(items, dict) else None
        yield from _complete(rule["items"], inside, spath.child("items"), vpath.child("items"))
    declared = schema.get("properties") or {}
    for name, inner in (rule.get("properties") or {}).items():
        there, here = spath.child("properties").key(name), vpath.child("properties").key(name)
        yield from _complete(inner, declared.get(name), there, here)
