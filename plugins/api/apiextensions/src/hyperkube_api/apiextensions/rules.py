"""The rules of a schema (``x-kubernetes-validations``): compiled once per definition, asked at every write.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/{compilation,validation}.go``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperkube_lib.cel import (
    CALL_COST_LIMIT,
    OBJECT_COST_BUDGET,
    CompilationFailed,
    CostExceeded,
    Environment,
    EvaluationError,
    NoSuchOverload,
    Program,
    base_environment,
)
from hyperkube_lib.cel.structural import converter, declared
from hyperkube_lib.cel.types import BOOL, STRING, Type, optional_of
from hyperkube_lib.cel.values import NONE, Optional

from hyperkube.machinery.field import OMITTED, FieldError, Path, duplicate, forbidden, invalid, required
from hyperkube.machinery.objects import Object

JsonSchema = Mapping[str, Any]
RULES = "x-kubernetes-validations"
_MAX_MESSAGE = 5 * 1024
_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"
_BELOW = frozenset({"properties", "items", "additionalProperties", "allOf", RULES})
_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:\\.|[^'\\])*)'\]")


class NotARule(Exception):
    """A rule cannot be compiled; ``str()`` is Kubernetes' text."""


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


def environments(schema: JsonSchema, *, root: bool) -> tuple[Environment, Environment]:
    """Return the environments of a schema's rules: plain, and with an optional ``oldSelf``.

    Raises:
        NotARule: rules cannot be written for such a schema.
    """
    own = declared(schema, root=root)
    if own is None:
        kind, keeps = schema.get("type") or "", bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        raise NotARule(
            f"rule declared on schema that does not support validation rules type: '{kind}' "
            f"x-kubernetes-preserve-unknown-fields: '{str(keeps).lower()}'"
        )
    return _environment(own, own), _environment(own, optional_of(own))


def _environment(own: Type, old: Type) -> Environment:
    return base_environment({"self": own, "oldSelf": old})


def compile_rule(environment: Environment, source: str) -> Program:
    """Compile a rule.

    Raises:
        NotARule: it cannot work, or is no question.
    """
    program = _compiled(environment, source)
    if program.result != BOOL:
        raise NotARule("cel expression must evaluate to a bool")
    return program


def compile_message(environment: Environment, source: str) -> Program:
    """Compile a message expression.

    Raises:
        NotARule: it cannot work, or gives no text.
    """
    try:
        program = environment.compile(source)
    except CompilationFailed as error:
        raise NotARule(f"messageExpression compilation failed: {error}") from error
    if program.result != STRING:
        raise NotARule("messageExpression must evaluate to a string")
    return program


def _compiled(environment: Environment, source: str) -> Program:
    try:
        return environment.compile(source)
    except CompilationFailed as error:
        raise NotARule(f"compilation failed: {error}") from error


def field_path(path: Path, text: str) -> Path:
    """Return the place a rule's ``fieldPath`` names below a path."""
    for name, key in _STEP.findall(text):
        path = path.child(name) if name else path.child(key.replace("\\'", "'"))
    return path


class Rule:
    """One compiled rule."""

    def __init__(self, declared_rule: Object, plain: Environment, optional: Environment) -> None:
        self.text = str(declared_rule.get("rule") or "").strip()
        self.message = str(declared_rule.get("message") or "").strip()
        self.reason = declared_rule.get("reason")
        self.field_path = str(declared_rule.get("fieldPath") or "")
        self.optional_old = bool(declared_rule.get("optionalOldSelf"))
        environment = optional if self.optional_old else plain
        self.program = compile_rule(environment, str(declared_rule["rule"]))
        self.is_transition = "oldSelf" in self.program.names
        expression = str(declared_rule.get("messageExpression") or "")
        self.message_program = compile_message(environment, expression) if expression.strip() else None

    @property
    def shown(self) -> str:
        """The rule as errors name it."""
        return self.message or self.text

    def names(self, value: Any, old: Any) -> dict[str, Any]:
        """Return what the expressions may speak of."""
        if not self.optional_old:
            return {"self": value} if old is None else {"self": value, "oldSelf": old}
        return {"self": value, "oldSelf": NONE if old is None else Optional(old)}

    def detail(self, names: Mapping[str, Any], budget: Budget) -> str:
        """Return the text for a value that breaks the rule."""
        default = self.message or f"failed rule: {self.text}"
        if self.message_program is None:
            return default
        try:
            made, cost = self.message_program.measure(names, min(CALL_COST_LIMIT, max(budget.left, 0)))
        except CostExceeded:
            budget.left = -1
            return default
        except EvaluationError:
            return default
        budget.left -= cost
        text = str(made).strip()
        return text if text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE else default

    def error(self, path: Path, value: Any, detail: str) -> FieldError:
        """Return the error for a value that breaks the rule."""
        at = field_path(path, self.field_path)
        shown = OMITTED if isinstance(value, dict | list) else value
        if self.reason == "FieldValueForbidden":
            return forbidden(at, detail)
        if self.reason == "FieldValueRequired":
            return required(at, detail)
        return duplicate(at, shown) if self.reason == "FieldValueDuplicate" else invalid(at, shown, detail)


class Level:
    """The rules of one level of a schema and of those below it."""

    def __init__(self, schema: JsonSchema, *, root: bool) -> None:
        self._convert: Callable[[Any], Any] | None = converter(schema)
        self._broken = ""
        self._rules: list[Rule] = []
        self._atomic_map = schema.get("x-kubernetes-map-type") == "atomic"
        self._keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
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
            self._rules = [Rule(rule, plain, optional) for rule in rules]
        except NotARule as error:
            self._broken = str(error)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked here or below."""
        below = (self._properties, self._values, self._items, self._all)
        return not self._rules and not self._broken and not any(below)

    def check(self, path: Path, value: Any, old: Any, budget: Budget, *, same: bool) -> None:
        """Ask the rules about a value; `same` tells that it is what it was."""
        if value is None or budget.spent:
            return
        self._ask(path, value, old, budget, same=same)
        for level in self._all:
            level.check(path, value, old, budget, same=False)
        if isinstance(value, dict):
            self._check_members(path, value, old, budget, same=same)
        elif isinstance(value, list) and self._items is not None:
            self._check_items(self._items, path, value, old, budget, same=same)

    def _check_members(self, path: Path, value: Object, old: Any, budget: Budget, *, same: bool) -> None:
        before = old if isinstance(old, dict) and not self._atomic_map else {}
        for name in sorted(value):
            if self._values is not None:
                at, level = path.key(name), self._values
            elif name in self._properties:
                at, level = path.child(name), self._properties[name]
            else:
                continue
            earlier = before.get(name)
            level.check(at, value[name], earlier, budget, same=same or (earlier is not None and earlier == value[name]))

    def _check_items(self, level: Level, path: Path, value: list[Any], old: Any, budget: Budget, *, same: bool) -> None:
        before: dict[tuple[Any, ...], Any] = {}
        if self._keys and isinstance(old, list):
            before = {self._key(item): item for item in old}
        for index, item in enumerate(value):
            earlier = before.get(self._key(item)) if before else None
            unchanged = same or (earlier is not None and earlier == item)
            level.check(path.index(index), item, earlier, budget, same=unchanged)

    def _key(self, item: Any) -> tuple[Any, ...]:
        return tuple(str(item.get(key)) for key in self._keys) if isinstance(item, dict) else ()

    def _ask(self, path: Path, value: Any, old: Any, budget: Budget, *, same: bool) -> None:
        if self._broken:
            budget.errors.append(invalid(path, _shown(value), f"rule compile error: {self._broken}"))
            return
        if not self._rules:
            return
        try:
            own = self._convert(value) if self._convert else value
            earlier = self._convert(old) if self._convert and old is not None else old
        except (EvaluationError, ValueError) as error:
            budget.errors.append(invalid(path, _shown(value), str(error)))
            return
        for rule in self._rules:
            if budget.spent:
                return
            if rule.is_transition and old is None and not rule.optional_old:
                continue
            self._ask_one(rule, path, (value, own, earlier), budget, same=same)

    def _ask_one(self, rule: Rule, path: Path, values: tuple[Any, Any, Any], budget: Budget, *, same: bool) -> None:
        value, own, old = values
        names = rule.names(own, old)
        try:
            holds, cost = rule.program.measure(names)
        except EvaluationError as error:
            budget.errors.append(invalid(path, _shown(value), _failure(error, rule)))
            if isinstance(error, CostExceeded):
                budget.left = -1
            return
        budget.left -= cost
        if budget.spent:
            budget.errors.append(invalid(path, _shown(value), _OUT_OF_BUDGET))
            return
        if holds is True:
            return
        found = rule.error(path, value, rule.detail(names, budget))
        if same and not rule.is_transition:
            budget.warnings.append(str(found))
        else:
            budget.errors.append(found)


def _shown(value: Any) -> Any:
    return OMITTED if isinstance(value, dict | list) else value


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
        self._level = level_of(schema, root=True)
        properties = schema.get("properties") or {}
        self._status = level_of(properties.get("status"))

    def check(self, obj: Object, old: Object | None) -> tuple[list[FieldError], list[str]]:
        """Return what breaks the rules, and what did so before."""
        budget = Budget()
        if self._level is not None:
            self._level.check(Path(""), obj, old, budget, same=old is not None and old == obj)
        return budget.errors, budget.warnings
