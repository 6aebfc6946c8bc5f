"""What a schema may say at every level, and the rules it has there.

Source: kubernetes apiextensions-apiserver ``pkg/apis/apiextensions/validation/validation.go``
(ValidateCustomResourceDefinitionOpenAPISchema).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hyperkube_api.apiextensions.validation.costs import Bill, times_below
from hyperkube_api.apiextensions.validation.lists import identified_items, list_type, map_type
from hyperkube_api.apiextensions.validation.rules import RULES, RuleLevel, compiled, form

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported
from hyperkube.machinery.objects import Object

TYPES = ("array", "boolean", "integer", "number", "object", "string")
_OWN = frozenset({"metadata", "kind", "apiVersion"})
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked of a schema; a stored definition that breaks a newer rule may go on breaking it.

    Attributes:
        known_types: insist on types that exist.
        atomic_sets: insist on items of sets that are compared as a whole.
        identified: insist on items of sets and maps that can always be told apart.
        limit_each: insist on a limit of the cost of each rule.
    """

    known_types: bool = True
    atomic_sets: bool = True
    identified: bool = True
    limit_each: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a schema we are.

    Attributes:
        no_defaults: why there may be no defaults, None where there may be.
        in_meta: whether this is about the metadata or type of an object.
        rules: the place as rules see it, None where there may be none.
    """

    path: Path
    root: bool = False
    no_defaults: str | None = None
    in_meta: bool = False
    rules: RuleLevel | None = None

    def under(self, path: Path) -> _Place:
        """Return a place that is not below in the objects, only in the schema: rules do not reach it."""
        return replace(self, path=path, root=False, rules=None)


@dataclass(slots=True)
class Found:
    """What is wrong, of the schema and of its rules."""

    schema: list[FieldError] = field(default_factory=list)
    rules: list[FieldError] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Take over what was found elsewhere."""
        self.schema += other.schema
        self.rules += other.rules


def validate_openapi(path: Path, schema: Object, options: Options, bill: Bill | None) -> list[FieldError]:
    """Check a schema; without a `bill` its rules are left alone."""
    level = RuleLevel(path, schema, root=True) if bill is not None else None
    found = _check(schema, _Place(path, root=True, rules=level), options, bill)
    return found.schema + found.rules


def _check(schema: Object, place: _Place, options: Options, bill: Bill | None) -> Found:
    path = place.path
    found = Found(list(_own(schema, place, options)))
    for inner, below in _below(schema, place):
        found.add(_check(inner, below, options, bill))
    if schema.get(_PRESERVE) is False:
        found.schema.append(invalid(path.child(_PRESERVE), False, "must be true or undefined"))
    found.schema += map_type(path, schema)
    found.schema += list_type(path, schema, atomic_sets=options.atomic_sets)
    if options.identified:
        found.schema += identified_items(path, schema)
    for index, rule in enumerate(schema.get(RULES) or ()):
        found.schema += form(path.child(RULES).index(index), rule, schema)
    if schema.get(RULES) and not found.schema and place.rules is not None and bill is not None:
        found.rules += compiled(place.rules, bill)
    return found


def _own(schema: Object, place: _Place, options: Options) -> Iterator[FieldError]:
    path, kind, items = place.path, schema.get("type") or "", schema.get("items")
    if options.known_types and kind and kind not in TYPES:
        yield not_supported(path.child("type"), kind, TYPES)
    if schema.get("default") is not None and place.no_defaults is not None:
        yield forbidden(path.child("default"), f"must not be set {place.no_defaults}".rstrip())
    for member in ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"):
        value = schema.get(member)
        if value or (member in {"additionalItems", "$ref"} and value is not None):
            yield forbidden(path.child(member), f"{member} is not supported")
    if kind == "null":
        yield forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative")
    if isinstance(items, list) and items:
        yield forbidden(path.child("items"), "items must be a schema object and not an array")
    if place.in_meta and schema.get(_EMBEDDED):
        yield forbidden(path.child(_EMBEDDED), "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(path.child("uniqueItems"), text)
    extra = schema.get("additionalProperties")
    if schema.get("properties") and extra is not None and extra is not True:
        text = "additionalProperties and properties are mutual exclusive"
        yield forbidden(path.child("additionalProperties"), text)


def _below(schema: Object, place: _Place) -> Iterator[tuple[Object, _Place]]:
    path = place.path
    extra, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(extra, dict):
        reason = "inside additionalProperties applying to object metadata" if place.in_meta else place.no_defaults
        at = path.child("additionalProperties")
        level = _level(place, at, extra, schema)
        yield extra, replace(place, path=at, root=False, no_defaults=reason, rules=level)
    for name, inner in sorted((schema.get("properties") or {}).items()):
        yield inner, _member(place, schema, name, inner)
    for member in ("not", "allOf", "oneOf", "anyOf", "definitions", "dependencies"):
        yield from _apart(schema.get(member), place.under(path.child(member)))
    if isinstance(items, dict):
        lost = "" if schema.get("x-kubernetes-list-type") == "map" else str(path)
        level = _level(place, path.child("items"), items, schema, lost)
        yield items, replace(place, path=path.child("items"), root=False, rules=level)
    elif isinstance(items, list):
        yield from _apart(items, place.under(path.child("items")))


def _apart(value: object, place: _Place) -> Iterator[tuple[Object, _Place]]:
    """Return the schemas of a junctor, or of a member that is not supported."""
    if isinstance(value, list):
        yield from ((inner, place.under(place.path.index(index))) for index, inner in enumerate(value))
    elif isinstance(value, dict) and place.path.endswith((".definitions", ".dependencies")):
        schemas = ((name, inner) for name, inner in sorted(value.items()) if isinstance(inner, dict))
        yield from ((inner, place.under(place.path.key(name))) for name, inner in schemas)
    elif isinstance(value, dict):
        yield value, place


def _member(place: _Place, schema: Object, name: str, inner: Object) -> _Place:
    path = place.path.child("properties").key(name)
    lost = str(place.path) if schema.get("x-kubernetes-map-type") == "atomic" else ""
    below = replace(place, path=path, root=False, rules=_level(place, path, inner, schema, lost))
    if name in _OWN and (place.root or schema.get(_EMBEDDED)):
        below = replace(below, in_meta=True)
        if place.root:
            below = replace(below, no_defaults=f"in top-level {name}")
    return below


def _level(place: _Place, path: Path, inner: Object, schema: Object, lost: str = "") -> RuleLevel | None:
    above = place.rules
    if above is None:
        return None
    embedded = bool(inner.get(_EMBEDDED))
    times = times_below(above.times, schema)
    return RuleLevel(path, inner, root=embedded, uncorrelatable=above.uncorrelatable or lost, times=times)
