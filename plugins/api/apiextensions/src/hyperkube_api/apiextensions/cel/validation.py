"""The rules of a schema, evaluated for an object and its old state.

A rule that an unchanged value breaks gives a warning, not an error (ratcheting).

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/validation.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from hyperkube_api.apiextensions.cel.compilation import (
    RULES,
    InvalidRule,
    JsonSchema,
    MessageTooCostly,
    Rule,
    environments,
)
from hyperkube_lib.cel import OBJECT_COST_BUDGET, CostExceeded, EvaluationError, NoSuchOverload
from hyperkube_lib.cel.structural import converter
from hyperkube_lib.structural_schema.former import Former, key_of, keyed

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object

_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_BELOW = frozenset({"properties", "items", "additionalProperties", "allOf", RULES})
_TYPE = frozenset({"apiVersion", "kind"})


@dataclass(slots=True)
class Budget:
    """What is left of the cost budget, and the errors and warnings so far."""

    left: int = OBJECT_COST_BUDGET
    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be evaluated."""
        return self.left < 0

    def end(self, error: FieldError) -> None:
        """Add an error after which nothing more is evaluated."""
        self.errors.append(error)
        self.left = -1


@dataclass(frozen=True, slots=True)
class CorrelatedValue:
    """A value, with the old value that it is correlated with (upstream's ``CorrelatedObject``).

    Attributes:
        path: where it is.
        value: the value.
        old: what rules may compare it with, None without any.
        now: the comparison of the value with its old one, None where the two cannot be correlated.
        above: the comparison of the nearest value around it that can be correlated.
    """

    path: Path
    value: Any
    old: Any
    now: Former | None = None
    above: Former | None = None

    @property
    def same(self) -> bool:
        """Whether the value is unchanged, or the nearest correlated value around it is."""
        known = self.now if self.now is not None else self.above
        return known is not None and known.same

    def member(self, path: Path, name: str, old: Any) -> CorrelatedValue:
        """Return a member."""
        if self.now is None:
            return CorrelatedValue(path, self.value[name], old, None, self.above)
        if self.above is None and name in _TYPE:
            return CorrelatedValue(path, self.value[name], old)
        return CorrelatedValue(path, self.value[name], old, self.now.key(name), self.now)

    def item(self, index: int, old: Any) -> CorrelatedValue:
        """Return an item."""
        path = self.path.index(index)
        if self.now is None:
            return CorrelatedValue(path, self.value[index], old, None, self.above)
        return CorrelatedValue(path, self.value[index], old, self.now.index(index), self.now)


class Validator:
    """Evaluates the rules of a schema and of those below it."""

    def __init__(self, schema: JsonSchema, *, root: bool) -> None:
        self._schema = schema
        self._kind = str(schema.get("type") or "")
        self._convert: Callable[[Any], Any] | None = converter(schema)
        self._compile_error = ""
        self._rules: list[Rule] = []
        self._compile(schema, root=root)
        self._properties = {
            name: validator
            for name, inner in (schema.get("properties") or {}).items()
            if (validator := validator_for(inner))
        }
        self._values = validator_for(schema.get("additionalProperties"))
        self._items = validator_for(schema.get("items"))
        above = {name: value for name, value in schema.items() if name not in _BELOW}
        all_of = [validator_for({**above, **inner}) for inner in schema.get("allOf") or ()]
        self._all = [validator for validator in all_of if validator is not None]

    def _compile(self, schema: JsonSchema, *, root: bool) -> None:
        rules = [rule for rule in schema.get(RULES) or () if str(rule.get("rule") or "").strip()]
        if not rules:
            return
        try:
            plain, optional = environments(schema, root=root)
        except InvalidRule as error:
            self._compile_error = str(error)
        else:
            self._rules = [Rule(rule, plain, optional, schema) for rule in rules]

    @property
    def is_empty(self) -> bool:
        """Whether there are no rules here or below."""
        below = (self._properties, self._values, self._items, self._all)
        return not self._rules and not self._compile_error and not any(below)

    @property
    def has_faults(self) -> bool:
        """Whether a rule here or below cannot be compiled."""
        below = [*self._properties.values(), *self._all, *filter(None, (self._values, self._items))]
        own = bool(self._compile_error) or any(rule.compile_error for rule in self._rules)
        return own or any(validator.has_faults for validator in below)

    def check(self, correlated: CorrelatedValue, budget: Budget) -> None:
        """Evaluate the rules for a value."""
        if correlated.value is None or budget.spent:
            return
        self._evaluate(correlated, budget)
        for validator in self._all:
            validator.check(
                CorrelatedValue(correlated.path, correlated.value, correlated.old, None, correlated.above), budget
            )
        if isinstance(correlated.value, dict):
            self._check_members(correlated, correlated.value, budget)
        elif isinstance(correlated.value, list) and self._items is not None:
            self._check_items(self._items, correlated, correlated.value, budget)

    def _check_members(self, correlated: CorrelatedValue, value: Object, budget: Budget) -> None:
        atomic = self._schema.get("x-kubernetes-map-type") == "atomic"
        before = correlated.old if isinstance(correlated.old, dict) and not atomic else {}
        for name in sorted(value):
            if self._values is not None:
                self._values.check(correlated.member(correlated.path.key(name), name, before.get(name)), budget)
            elif name in self._properties:
                inner = correlated.member(correlated.path.child(name), name, before.get(name))
                self._properties[name].check(inner, budget)

    def _check_items(self, validator: Validator, correlated: CorrelatedValue, value: list[Any], budget: Budget) -> None:
        before: dict[tuple[str, ...], Any] = {}
        if self._schema.get("x-kubernetes-list-map-keys") and isinstance(correlated.old, list):
            before = keyed(correlated.old, self._schema)
        for index, item in enumerate(value):
            earlier = before.get(key_of(item, self._schema)) if before else None
            validator.check(correlated.item(index, earlier), budget)

    def _evaluate(self, correlated: CorrelatedValue, budget: Budget) -> None:
        if self._compile_error:
            text = f"rule compiler initialization error: {self._compile_error}"
            budget.errors.append(invalid(correlated.path, self._kind, text))
            return
        if not self._rules:
            return
        if not budget.left:
            budget.end(invalid(correlated.path, self._kind, _OUT_OF_BUDGET))
            return
        try:
            own = self._convert(correlated.value) if self._convert else correlated.value
            earlier = self._convert(correlated.old) if self._convert and correlated.old is not None else correlated.old
        except (EvaluationError, ValueError) as error:
            budget.errors.append(invalid(correlated.path, self._kind, str(error)))
            return
        for rule in self._rules:
            if budget.spent:
                return
            if rule.compile_error:
                text = f"rule compile error: {rule.compile_error}"
                budget.errors.append(invalid(correlated.path, self._kind, text))
            elif not rule.is_transition or correlated.old is not None or rule.optional_old:
                self._evaluate_rule(rule, correlated, (own, earlier), budget)

    def _evaluate_rule(self, rule: Rule, correlated: CorrelatedValue, values: tuple[Any, Any], budget: Budget) -> None:
        names = rule.names(*values)
        try:
            holds, cost = rule.measure(names)
        except CostExceeded as error:
            budget.end(invalid(correlated.path, self._kind, _failure(error, rule)))
            return
        except EvaluationError as error:
            budget.errors.append(invalid(correlated.path, self._kind, _failure(error, rule)))
            return
        if cost > budget.left:
            budget.end(invalid(correlated.path, self._kind, _OUT_OF_BUDGET))
            return
        budget.left -= cost
        if holds is True:
            return
        try:
            detail, cost = rule.detail(names, budget.left)
            found = rule.error(correlated.path, correlated.value, detail)
        except MessageTooCostly as error:
            found, cost = invalid(rule.at(correlated.path), self._kind, str(error)), budget.left + 1
        budget.left -= cost
        if correlated.same and not rule.is_transition:
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


def validator_for(schema: Any, *, root: bool = False) -> Validator | None:
    """Return the validator of a schema, None when it has no rules anywhere."""
    if not isinstance(schema, dict):
        return None
    validator = Validator(schema, root=root or bool(schema.get("x-kubernetes-embedded-resource")))
    return None if validator.is_empty else validator


def rule_errors(path: Path, value: Any, schema: JsonSchema) -> list[FieldError]:
    """Return the rules of a schema that a value breaks, in a value without a past; what does not compile is no rule."""
    validator, budget = validator_for(schema), Budget()
    if validator is None or validator.has_faults:
        return []
    validator.check(CorrelatedValue(path, value, None), budget)
    return budget.errors


class SchemaRules:
    """All rules of one version of a definition (`hyperkube.hookspecs.api.ObjectRules`)."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        self._validator = validator_for(schema, root=True)

    def check(self, obj: Object, old: Object | None) -> tuple[list[FieldError], list[str]]:
        """Return errors for changed values that break the rules, and warnings for unchanged ones."""
        budget = Budget()
        if self._validator is not None:
            former = Former(obj, old, self._schema) if old is not None else None
            self._validator.check(CorrelatedValue(Path(""), obj, old, former), budget)
        return budget.errors, budget.warnings
