"""Defaults must fit the schema that declares them, as any value must.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/defaulting/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperkube_lib.structural_schema.embedded import embedded_errors
from hyperkube_lib.structural_schema.structure import EMBEDDED, OWN, prune
from hyperkube_lib.structural_schema.validation import has_rules, validate

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object, copy_object

if TYPE_CHECKING:
    from hyperkube.machinery.schema import CompiledSchema

Location = tuple[str | int, ...]
"""The members and items that lead to a value from the object around it."""


def validate_defaults(path: Path, schema: Object, *, pruned: bool = True) -> list[FieldError]:
    """Check all defaults of a structural schema; `pruned` insists that they have no undeclared members."""
    return list(_check(path, {**schema, EMBEDDED: True}, (), pruned=pruned, in_meta=False))


def has_unpruned(schema: Object) -> bool:
    """Return whether a default has undeclared members."""
    default = schema.get("default")
    if default is not None and _pruned(default, schema) != default:
        return True
    below = [*(schema.get("properties") or {}).values(), schema.get("items")]
    return any(has_unpruned(inner) for inner in below if isinstance(inner, dict))


def _meta() -> CompiledSchema:
    from hyperkube.machinery.schema import compile_schema

    return compile_schema("hyperkube_api.meta.v1:ObjectMeta")


def _pruned(default: Any, schema: Object) -> Any:
    copy = copy_object({"": default})[""]
    prune(copy, {**schema, EMBEDDED: False}, _as_it_is, root=bool(schema.get(EMBEDDED)))
    return copy


def _as_it_is(metadata: Any) -> tuple[Object, list[str]]:
    return metadata, []


def _check(path: Path, schema: Object, location: Location, *, pruned: bool, in_meta: bool) -> Iterator[FieldError]:
    if schema.get(EMBEDDED):
        in_meta, location = False, ()
    default = schema.get("default")
    if default is not None:
        at = path.child("default")
        if in_meta:
            yield from _inside_metadata(at, default, schema, location)
        else:
            yield from _outside(at, default, schema, pruned=pruned)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _check(path.child("items"), items, (*location, 0), pruned=pruned, in_meta=in_meta)
    for name, inner in sorted((schema.get("properties") or {}).items()):
        inside = in_meta or (bool(schema.get(EMBEDDED)) and name in OWN)
        at = path.child("properties").key(name)
        yield from _check(at, inner, (*location, name), pruned=pruned, in_meta=inside)


def _outside(path: Path, default: Any, schema: Object, *, pruned: bool) -> Iterator[FieldError]:
    if pruned and _pruned(default, schema) != default:
        yield invalid(path, default, "must not have unknown fields")
    errors = embedded_errors(path, default, schema, _meta().decode) or validate(default, schema, path, "")
    yield from errors or _broken_rules(path, default, schema)


def _broken_rules(path: Path, default: Any, schema: Object) -> list[FieldError]:
    """Return the rules of a schema that its own default breaks; those that cannot be compiled are told elsewhere."""
    if not has_rules(schema):
        return []
    from hyperkube_api.apiextensions.cel.validation import rule_errors

    return rule_errors(path, default, schema)


def _inside_metadata(path: Path, default: Any, schema: Object, location: Location) -> Iterator[FieldError]:
    """Check a default that becomes part of an object's metadata, in an object that has nothing else."""
    from hyperkube.machinery.schema import DecodeError

    around: Any = default
    for step in reversed(location):
        around = [around] if isinstance(step, int) else {step: around}
    try:
        _meta().decode(copy_object(around.get("metadata") or {}), report=False)
    except DecodeError as error:
        yield invalid(path, default, f"must result in valid metadata: metadata: Invalid value: {error}")
        return
    whole = {"apiVersion": "validation/v1", "kind": "Validation", **around}
    wrong = embedded_errors(Path(""), whole, {EMBEDDED: True}, _meta().decode)
    if wrong:
        yield invalid(path, default, f"must result in valid metadata: {aggregate(wrong)}")
        return
    yield from validate(default, schema, path)
