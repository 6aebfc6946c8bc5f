"""Structural schemas: every level says its type, and nothing that pruning could not follow.

Source: kubernetes apiextensions-apiserver pkg/apiserver/schema/validation.go and
pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_FORBIDDEN = {
    "definitions": "definitions is not supported",
    "dependencies": "dependencies is not supported",
    "id": "id is not supported",
    "patternProperties": "patternProperties is not supported",
    "additionalItems": "additionalItems is not supported",
    "$schema": "schema is not supported",
    "$ref": "$ref is not supported",
}
_IN_JUNCTORS = ("type", "default", "description", "title", "nullable")
_INT_OR_STRING = "x-kubernetes-int-or-string"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_LIST_TYPE = "x-kubernetes-list-type"
_LIST_KEYS = "x-kubernetes-list-map-keys"
_MAP_TYPE = "x-kubernetes-map-type"


def validate_structure(path: Path, schema: Object) -> list[FieldError]:
    """Check the schema of one version: structural, and an object at the root."""
    errors: list[FieldError] = []
    kind = schema.get("type") or ""
    if kind != "object":
        text = "must not be empty at the root" if not kind else "must be object at the root"
        if not kind:
            errors.append(required(path.child("type"), text))
        else:
            errors.append(invalid(path.child("type"), kind, text))
    if schema.get("nullable"):
        errors.append(forbidden(path.child("nullable"), "nullable cannot be true at the root"))
    return errors + _level(path, schema, root=True)


def _level(path: Path, schema: Object, *, root: bool = False) -> list[FieldError]:
    errors = [forbidden(path.child(member), text) for member, text in _FORBIDDEN.items() if schema.get(member)]
    kind = schema.get("type") or ""
    if kind and kind not in TYPES:
        errors.append(not_supported(path.child("type"), kind, TYPES))
    if not kind and not root and not schema.get(_INT_OR_STRING) and not schema.get(_PRESERVE):
        errors.append(required(path.child("type"), "must not be empty for specified object fields"))
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(path.child("uniqueItems"), text))
    if (
        schema.get("properties")
        and schema.get("additionalProperties") not in {None, False}
        and not isinstance(schema.get("additionalProperties"), bool)
    ):
        text = "additionalProperties and properties are mutual exclusive"
        errors.append(forbidden(path.child("additionalProperties"), text))
    errors += _extensions(path, schema, kind)
    errors += _junctors(path, schema)
    for name, item in sorted((schema.get("properties") or {}).items()):
        errors += _level(path.child("properties").key(name), item, root=root and name == "metadata")
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        errors += _level(path.child("additionalProperties"), extra)
    items = schema.get("items")
    if isinstance(items, dict):
        errors += _level(path.child("items"), items)
    elif isinstance(items, list):
        errors.append(forbidden(path.child("items"), "items must be a schema object and not an array"))
    elif kind == "array":
        errors.append(required(path.child("items"), "must be specified"))
    return errors


def _extensions(path: Path, schema: Object, kind: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if schema.get(_PRESERVE) is False:
        errors.append(invalid(path.child(_PRESERVE), False, "must be true or undefined"))
    if schema.get(_EMBEDDED):
        errors += _needs_type(path, kind, "object", f"{_EMBEDDED} is true")
    errors += _list_type(path, schema, kind)
    map_type = schema.get(_MAP_TYPE)
    if map_type is not None:
        errors += _needs_type(path, kind, "object", f"{_MAP_TYPE} is specified")
        if map_type not in {"atomic", "granular"}:
            errors.append(not_supported(path.child(_MAP_TYPE), map_type, ("atomic", "granular")))
    return errors


def _needs_type(path: Path, kind: str, wanted: str, reason: str) -> list[FieldError]:
    if kind == wanted:
        return []
    text, at = f"must be {wanted} if {reason}", path.child("type")
    return [invalid(at, kind, text) if kind else required(at, text)]


def _list_type(path: Path, schema: Object, kind: str) -> list[FieldError]:
    list_type, keys = schema.get(_LIST_TYPE), schema.get(_LIST_KEYS) or []
    errors: list[FieldError] = []
    if list_type is not None:
        errors += _needs_type(path, kind, "array", f"{_LIST_TYPE} is specified")
        if list_type not in {"atomic", "map", "set"}:
            errors.append(not_supported(path.child(_LIST_TYPE), list_type, ("atomic", "map", "set")))
    at = path.child(_LIST_KEYS)
    if list_type != "map":
        return [*errors, forbidden(at, f"may only be used if {_LIST_TYPE} is map")] if keys else errors
    if not keys:
        errors.append(required(at, f"must not be empty if {_LIST_TYPE} is map"))
    items = schema.get("items")
    known = (items.get("properties") or {}) if isinstance(items, dict) else {}
    text = "entries must all be names of item properties"
    return errors + [invalid(at.index(index), key, text) for index, key in enumerate(keys) if key not in known]


def _junctors(path: Path, schema: Object) -> list[FieldError]:
    """Check that ``allOf``, ``anyOf``, ``oneOf`` and ``not`` only restrict."""
    if schema.get(_INT_OR_STRING):
        return []
    errors: list[FieldError] = []
    for member in ("allOf", "anyOf", "oneOf"):
        for index, item in enumerate(schema.get(member) or ()):
            errors += _restriction(path.child(member).index(index), item)
    if isinstance(schema.get("not"), dict):
        errors += _restriction(path.child("not"), schema["not"])
    return errors


def _restriction(path: Path, schema: Object) -> list[FieldError]:
    errors = [
        forbidden(path.child(member), "must be empty to be structural")
        for member in _IN_JUNCTORS
        if schema.get(member) not in (None, "", False)
    ]
    errors += [
        forbidden(
            path.child(member),
            "must be false to be structural" if member != _LIST_TYPE else "must be undefined to be structural",
        )
        for member in (_EMBEDDED, _INT_OR_STRING, _PRESERVE, _LIST_TYPE, _MAP_TYPE)
        if schema.get(member)
    ]
    for name, item in sorted((schema.get("properties") or {}).items()):
        errors += _restriction(path.child("properties").key(name), item)
    if isinstance(schema.get("items"), dict):
        errors += _restriction(path.child("items"), schema["items"])
    return errors
