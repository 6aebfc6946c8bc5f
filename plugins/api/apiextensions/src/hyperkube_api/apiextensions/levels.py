"""The levels of a schema that have rules, and how they are asked about an object and what it was.

What a rule finds wrong with a value that did not change is only warned of.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/validation.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hyperkube_api.apiextensions.rules import RULES, JsonSchema, MessageTooCostly, NotARule, Rule, environments
from hyperkube_lib.cel import OBJECT_COST_BUDGET, CostExceeded, EvaluationError, NoSuchOverload
from hyperkube_lib.cel.structural import converter
from hyperkube_lib.structural_schema.former import Former, key_of, keyed

from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object

_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_BELOW = frozenset({"properties", "items", "additionalProperties", "allOf", RULES})
_TYPE = frozenset({"apiVersion", "kind"})


@dataclass(slots=True)
class Budget:
    """What is left to spend, what was found, and what is only warned of."""

    left: int = OBJECT_COST_BUDGET
    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be evaluated."""
        return self.left < 0

    def end(self, error: FieldError) -> None:
        """Note an error after which nothing more is evaluated."""
        self.errors.append(error)
        self.left = -1


@dataclass(frozen=True, slots=True)
class Place:
    """A value on its way through a schema.

    Attributes:
        path: where it is.
        value: the value.
        old: what rules may compare it with, None without any.
        now: the value beside what it was, None where that cannot be told.
        above: the nearest value around it of which that can be told.
    """

    path: Path
    value: Any
    old: Any
    now: Former | None = None
    above: Former | None = None

    @property
    def same(self) -> bool:
        """Whether nothing changed here, or around where that cannot be told."""
        known = self.now if self.now is not None else self.above
        return known is not None and known.same

    def member(self, path: Path, name: str, old: Any) -> Place:
        """Return a member."""
        if self.now is None:
            return Place(path, self.value[name], old, None, self.above)
        if self.above is None and name in _TYPE:
            return Place(path, self.value[name], old)
        return Place(path, self.value[name], old, self.now.key(name), self.now)

    def item(self, index: int, old: Any) -> Place:
        """Return an item."""
        path = self.path.index(index)
        if self.now is None:
            return Place(path, self.value[index], old, None, self.above)
        return Place(path, self.value[index], old, self.now.index(index), self.now)


class Level:
    """The rules of one level of a schema and of those below it."""

    def __init__(self, schema: JsonSchema, *, root: bool) -> None:
        self._schema = schema
        self._kind = str(schema.get("type") or "")
        self._convert: Callable[[Any], Any] | None = converter(schema)
        self._broken = ""
        self._rules: list[Rule] = []
        self._compile(schema, root=root)
        self._properties = {
            name: level for name, inner in (schema.get("properties") or {}).items() if (level := level_of(inner))
        }
        self._values = level_of(schema.get("additionalProperties"))
        self._items = level_of(schema.get("items"))
        above = {name: value for name, value in schema.items() if name not in _BELOW}
        all_of = [level_of({**above, **inner}) for inner in schema.get("allOf") or ()]
        self._all = [level for level in all_of if level is not None]

    def _compile(self, schema: JsonSchema, *, root: bool) -> None:
        rules = [rule for rule in schema.get(RULES) or () if str(rule.get("rule") or "").strip()]
        if not rules:
            return
        try:
            plain, optional = environments(schema, root=root)
        except NotARule as error:
            self._broken = str(error)
        else:
            self._rules = [Rule(rule, plain, optional, schema) for rule in rules]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked here or below."""
        below = (self._properties, self._values, self._items, self._all)
        return not self._rules and not self._broken and not any(below)

    def check(self, place: Place, budget: Budget) -> None:
        """Ask the rules about a value."""
        if place.value is None or budget.spent:
            return
        self._ask(place, budget)
        for level in self._all:
            level.check(Place(place.path, place.value, place.old, None, place.above), budget)
        if isinstance(place.value, dict):
            self._check_members(place, place.value, budget)
        elif isinstance(place.value, list) and self._items is not None:
            self._check_items(self._items, place, place.value, budget)

    def _check_members(self, place: Place, value: Object, budget: Budget) -> None:
        atomic = self._schema.get("x-kubernetes-map-type") == "atomic"
        before = place.old if isinstance(place.old, dict) and not atomic else {}
        for name in sorted(value):
            if self._values is not None:
                self._values.check(place.member(place.path.key(name), name, before.get(name)), budget)
            elif name in self._properties:
                inner = place.member(place.path.child(name), name, before.get(name))
                self._properties[name].check(inner, budget)

    def _check_items(self, level: Level, place: Place, value: list[Any], budget: Budget) -> None:
        before: dict[tuple[str, ...], Any] = {}
        if self._schema.get("x-kubernetes-list-map-keys") and isinstance(place.old, list):
            before = keyed(place.old, self._schema)
        for index, item in enumerate(value):
            earlier = before.get(key_of(item, self._schema)) if before else None
            level.check(place.item(index, earlier), budget)

    def _ask(self, place: Place, budget: Budget) -> None:
        if self._broken:
            text = f"rule compiler initialization error: {self._broken}"
            budget.errors.append(invalid(place.path, self._kind, text))
            return
        if not self._rules:
            return
        if not budget.left:
            budget.end(invalid(place.path, self._kind, _OUT_OF_BUDGET))
            return
        try:
            own = self._convert(place.value) if self._convert else place.value
            earlier = self._convert(place.old) if self._convert and place.old is not None else place.old
        except (EvaluationError, ValueError) as error:
            budget.errors.append(invalid(place.path, self._kind, str(error)))
            return
        for rule in self._rules:
            if budget.spent:
                return
            if rule.broken:
                text = f"rule compile error: {rule.broken}"
                budget.errors.append(invalid(place.path, self._kind, text))
            elif not rule.is_transition or place.old is not None or rule.optional_old:
                self._ask_one(rule, place, (own, earlier), budget)

    def _ask_one(self, rule: Rule, place: Place, values: tuple[Any, Any], budget: Budget) -> None:
        names = rule.names(*values)
        try:
            holds, cost = rule.measure(names)
        except CostExceeded as error:
            budget.end(invalid(place.path, self._kind, _failure(error, rule)))
            return
        except EvaluationError as error:
            budget.errors.append(invalid(place.path, self._kind, _failure(error, rule)))
            return
        if cost > budget.left:
            budget.end(invalid(place.path, self._kind, _OUT_OF_BUDGET))
            return
        budget.left -= cost
        if holds is True:
            return
        try:
            detail, cost = rule.detail(names, budget.left)
            found = rule.error(place.path, place.value, detail)
        except MessageTooCostly as error:
            found, cost = invalid(rule.at(place.path), self._kind, str(error)), budget.left + 1
        budget.left -= cost
        if place.same and not rule.is_transition:
            budget.warnings.append(str(found))
        else:
            budget.errors.append(found)


def _failure(error: EvaluationError, rule: Rule) -> str:
    if isinstance(error, NoSuchOverload):
        why = "call arguments did not match a supported operator, function or macro signature for rule"
        return f"'{error}': {why}: {rule.shown}"
    if isinstance(error, CostExceeded):
        why = "no further validation rules will be run due to call cost exceeds limit for rule"
        return f"'{error}': {why}: {rule.shown}"
    return f"{error} evaluating rule: {rule.shown}"


def level_of(schema: Any, *, root: bool = False) -> Level | None:
    """Return the rules of a schema, None when it has none anywhere."""
    if not isinstance(schema, dict):
        return None
    level = Level(schema, root=root or bool(schema.get("x-kubernetes-embedded-resource")))
    return None if level.is_empty else level


class SchemaRules:
    """All rules of one version of a definition (`hyperkube.hookspecs.api.ObjectRules`)."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        self._level = level_of(schema, root=True)

    def check(self, obj: Object, old: Object | None) -> tuple[list[FieldError], list[str]]:
        """Return what breaks the rules, and what did so before."""
        budget = Budget()
        if self._level is not None:
            former = Former(obj, old, self._schema) if old is not None else None
            self._level.check(Place(Path(""), obj, old, former), budget)
        return budget.errors, budget.warnings
