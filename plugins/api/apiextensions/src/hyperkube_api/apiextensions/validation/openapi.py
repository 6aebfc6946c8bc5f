"""Validation of every level of an OpenAPI schema, and of the rules at that level.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``
(ValidateCustomResourceDefinitionOpenAPISchema).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from hyperkube_api.apiextensions.validation.costs import TotalCost, cardinality_below
from hyperkube_api.apiextensions.validation.lists import identified_items, list_type, map_type
from hyperkube_api.apiextensions.validation.rules import RULES, RuleContext, check_compiled, check_form

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported
from hyperkube.machinery.objects import Object

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_TYPE_AND_META = frozenset({"metadata", "kind", "apiVersion"})
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


@dataclass(frozen=True, slots=True)
class Options:
    """What is required of a schema; a stored definition that breaks a newer requirement may go on breaking it.

    Attributes:
        known_types: require types that exist.
        atomic_sets: require items of sets that are compared as a whole.
        identified: require items of sets and maps, and their keys, never to be null or missing.
        limit_each: limit the cost of each rule.
    """

    known_types: bool = True
    atomic_sets: bool = True
    identified: bool = True
    limit_each: bool = True


@dataclass(frozen=True, slots=True)
class _Position:
    """A position in a schema.

    Attributes:
        no_defaults: why there may be no defaults, None where there may be.
        in_meta: whether this is about the metadata or type of an object.
        rules: the context of the rules at the position, None where there may be none.
    """

    path: Path
    root: bool = False
    no_defaults: str | None = None
    in_meta: bool = False
    rules: RuleContext | None = None

    def under(self, path: Path) -> _Position:
        """Return a position that is below in the schema, but not in the objects: rules do not reach it."""
        return replace(self, path=path, root=False, rules=None)


@dataclass(slots=True)
class SchemaErrors:
    """The errors of a schema, and those of its rules."""

    schema: list[FieldError] = field(default_factory=list)
    rules: list[FieldError] = field(default_factory=list)

    def add(self, other: SchemaErrors) -> None:
        """Add the errors of another schema."""
        self.schema += other.schema
        self.rules += other.rules


def validate_openapi(path: Path, schema: Object, options: Options, total_cost: TotalCost | None) -> list[FieldError]:
    """Check a schema; without a `total_cost` its rules are not compiled."""
    context = RuleContext(path, schema, root=True) if total_cost is not None else None
    found = _check(schema, _Position(path, root=True, rules=context), options, total_cost)
    return found.schema + found.rules


def _check(schema: Object, position: _Position, options: Options, total_cost: TotalCost | None) -> SchemaErrors:
    path = position.path
    found = SchemaErrors(list(_check_level(schema, position, options)))
    for inner, below in _children(schema, position):
        found.add(_check(inner, below, options, total_cost))
    if schema.get(_PRESERVE) is False:
        found.schema.append(invalid(path.child(_PRESERVE), False, "must be true or undefined"))
    found.schema += map_type(path, schema)
    found.schema += list_type(path, schema, atomic_sets=options.atomic_sets)
    if options.identified:
        found.schema += identified_items(path, schema)
    for index, rule in enumerate(schema.get(RULES) or ()):
        found.schema += check_form(path.child(RULES).index(index), rule, schema)
    if schema.get(RULES) and not found.schema and position.rules is not None and total_cost is not None:
        found.rules += check_compiled(position.rules, total_cost)
    return found


def _check_level(schema: Object, position: _Position, options: Options) -> Iterator[FieldError]:
    path, kind, items = position.path, schema.get("type") or "", schema.get("items")
    if options.known_types and kind and kind not in TYPES:
        yield not_supported(path.child("type"), kind, TYPES)
    if schema.get("default") is not None and position.no_defaults is not None:
        yield forbidden(path.child("default"), f"must not be set {position.no_defaults}".rstrip())
    for member in ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"):
        value = schema.get(member)
        if value or (member in {"additionalItems", "$ref"} and value is not None):
            yield forbidden(path.child(member), f"{member} is not supported")
    if kind == "null":
        yield forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative")
    if isinstance(items, list) and items:
        yield forbidden(path.child("items"), "items must be a schema object and not an array")
    if position.in_meta and schema.get(_EMBEDDED):
        yield forbidden(path.child(_EMBEDDED), "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(path.child("uniqueItems"), text)
    extra = schema.get("additionalProperties")
    if schema.get("properties") and extra is not None and extra is not True:
        text = "additionalProperties and properties are mutual exclusive"
        yield forbidden(path.child("additionalProperties"), text)


def _children(schema: Object, position: _Position) -> Iterator[tuple[Object, _Position]]:
    path = position.path
    extra, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(extra, dict):
        reason = "inside additionalProperties applying to object metadata" if position.in_meta else position.no_defaults
        at = path.child("additionalProperties")
        context = _rule_context(position, at, extra, schema)
        yield extra, replace(position, path=at, root=False, no_defaults=reason, rules=context)
    for name, inner in sorted((schema.get("properties") or {}).items()):
        yield inner, _property(position, schema, name, inner)
    for member in ("not", "allOf", "oneOf", "anyOf", "definitions", "dependencies"):
        yield from _junctor(schema.get(member), position.under(path.child(member)))
    if isinstance(items, dict):
        uncorrelatable = "" if schema.get("x-kubernetes-list-type") == "map" else str(path)
        context = _rule_context(position, path.child("items"), items, schema, uncorrelatable)
        yield items, replace(position, path=path.child("items"), root=False, rules=context)
    elif isinstance(items, list):
        yield from _junctor(items, position.under(path.child("items")))


def _junctor(value: object, position: _Position) -> Iterator[tuple[Object, _Position]]:
    """Return the schemas of a junctor, or of a member that is not supported."""
    if isinstance(value, list):
        yield from ((inner, position.under(position.path.index(index))) for index, inner in enumerate(value))
    elif isinstance(value, dict) and position.path.endswith((".definitions", ".dependencies")):
        schemas = ((name, inner) for name, inner in sorted(value.items()) if isinstance(inner, dict))
        yield from ((inner, position.under(position.path.key(name))) for name, inner in schemas)
    elif isinstance(value, dict):
        yield value, position


def _property(position: _Position, schema: Object, name: str, inner: Object) -> _Position:
    path = position.path.child("properties").key(name)
    uncorrelatable = str(position.path) if schema.get("x-kubernetes-map-type") == "atomic" else ""
    below = replace(position, path=path, root=False, rules=_rule_context(position, path, inner, schema, uncorrelatable))
    if name in _TYPE_AND_META and (position.root or schema.get(_EMBEDDED)):
        below = replace(below, in_meta=True)
        if position.root:
            below = replace(below, no_defaults=f"in top-level {name}")
    return below


def _rule_context(
    position: _Position, path: Path, inner: Object, schema: Object, uncorrelatable: str = ""
) -> RuleContext | None:
    above = position.rules
    if above is None:
        return None
    embedded = bool(inner.get(_EMBEDDED))
    max_cardinality = cardinality_below(above.max_cardinality, schema)
    return RuleContext(
        path,
        inner,
        root=embedded,
        uncorrelatable=above.uncorrelatable or uncorrelatable,
        max_cardinality=max_cardinality,
    )
