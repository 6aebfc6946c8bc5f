"""The rules of a schema (``x-kubernetes-validations``): compiled once per definition, evaluated at every write.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/{compilation,validation}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_api.apiextensions.validation.field_paths import NotAFieldPath, follow
from hyperkube_lib.cel import (
    CompilationFailed,
    CostExceeded,
    Environment,
    EvaluationError,
    NotInstantiated,
    Program,
    base_environment,
)
from hyperkube_lib.cel.structural import declared
from hyperkube_lib.cel.types import BOOL, STRING, Type, optional_of
from hyperkube_lib.cel.values import NONE, Optional

from hyperkube.machinery.field import OMITTED, FieldError, Path, duplicate, forbidden, invalid, quote, required
from hyperkube.machinery.objects import Object

JsonSchema = Mapping[str, Any]
RULES = "x-kubernetes-validations"
_MAX_MESSAGE = 5 * 1024


class InvalidRule(Exception):
    """A rule cannot be compiled; ``str()`` is Kubernetes' text."""


class MessageTooCostly(Exception):
    """A message expression may not be evaluated any further; ``str()`` is Kubernetes' text."""


def environments(schema: JsonSchema, *, root: bool) -> tuple[Environment, Environment]:
    """Return the environments of a schema's rules: plain, and with an optional ``oldSelf``.

    Raises:
        InvalidRule: rules cannot be written for such a schema.
    """
    own = declared(schema, root=root)
    if own is None:
        kind, keeps = schema.get("type") or "", bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        raise InvalidRule(
            f"rule declared on schema that does not support validation rules type: '{kind}' "
            f"x-kubernetes-preserve-unknown-fields: '{str(keeps).lower()}'"
        )
    return _environment(own, own), _environment(own, optional_of(own))


def _environment(own: Type, old: Type) -> Environment:
    return base_environment({"self": own, "oldSelf": old})


def compile_rule(environment: Environment, source: str) -> Program:
    """Compile a rule.

    Raises:
        InvalidRule: it does not compile, or does not give a boolean.
    """
    program = _compiled(environment, source)
    if program.result != BOOL:
        raise InvalidRule("cel expression must evaluate to a bool")
    return program


def compile_message(environment: Environment, source: str) -> Program:
    """Compile a message expression.

    Raises:
        InvalidRule: it does not compile, or does not give a string.
    """
    try:
        program = environment.compile(source)
    except NotInstantiated as error:
        raise InvalidRule(f"messageExpression instantiation failed: {error.why}") from error
    except CompilationFailed as error:
        raise InvalidRule(f"messageExpression compilation failed: {error}") from error
    if program.result != STRING:
        raise InvalidRule("messageExpression must evaluate to a string")
    return program


def _compiled(environment: Environment, source: str) -> Program:
    try:
        return environment.compile(source)
    except NotInstantiated as error:
        raise InvalidRule(str(error)) from error
    except CompilationFailed as error:
        raise InvalidRule(f"compilation failed: {error}") from error


def field_path(text: str, schema: JsonSchema) -> str:
    """Return the path that a rule's ``fieldPath`` names below its own, as errors write it."""
    try:
        return str(follow(text, dict(schema))[0])
    except NotAFieldPath:
        return ""


class Rule:
    """One compiled rule; `compile_error` is the reason why it could not be compiled, or empty."""

    def __init__(self, declared_rule: Object, plain: Environment, optional: Environment, schema: JsonSchema) -> None:
        self.text = str(declared_rule.get("rule") or "").strip()
        self.message = str(declared_rule.get("message") or "").strip()
        self.reason = declared_rule.get("reason")
        self.field_path = field_path(str(declared_rule.get("fieldPath") or ""), schema)
        self.optional_old = bool(declared_rule.get("optionalOldSelf"))
        environment = optional if self.optional_old else plain
        self.compile_error = ""
        self.program: Program | None = None
        self.message_program: Program | None = None
        expression = str(declared_rule.get("messageExpression") or "")
        try:
            self.program = compile_rule(environment, str(declared_rule["rule"]))
            self.message_program = compile_message(environment, expression) if expression.strip() else None
        except InvalidRule as error:
            self.compile_error = str(error) if self.program is None else ""

    @property
    def is_transition(self) -> bool:
        """Whether it compares a value with its old state."""
        return self.program is not None and "oldSelf" in self.program.names

    @property
    def shown(self) -> str:
        """The rule as errors name it."""
        return self.message or self.text

    def names(self, value: Any, old: Any) -> dict[str, Any]:
        """Return the variables of the expressions."""
        if not self.optional_old:
            return {"self": value} if old is None else {"self": value, "oldSelf": old}
        return {"self": value, "oldSelf": NONE if old is None else Optional(old)}

    def detail(self, names: Mapping[str, Any], left: int) -> tuple[str, int]:
        """Return the message for a value that breaks the rule, and the cost of making it, at most what is `left`.

        Raises:
            MessageTooCostly: it costs more.
        """
        default = self.message or f"failed rule: {self.text}"
        if self.message_program is None:
            return default, 0
        try:
            made, cost = self.message_program.measure(names)
        except CostExceeded as error:
            text = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
            raise MessageTooCostly(f"{text}: {quote(self.message_program.source)}") from error
        except EvaluationError:
            return default, 0
        if cost > left:
            text = "messageExpression evaluation failed due to running out of cost budget"
            raise MessageTooCostly(f"{text}, no further validation rules will be run")
        text = str(made).strip()
        return (text if text and "\n" not in text and len(text.encode()) <= _MAX_MESSAGE else default), cost

    def measure(self, names: Mapping[str, Any]) -> tuple[Any, int]:
        """Return the result of the rule, and its cost.

        Raises:
            EvaluationError: it has none, or costs too much.
        """
        assert self.program is not None  # noqa: S101 -- rules with a compile error are not evaluated
        return self.program.measure(names)

    def at(self, path: Path) -> Path:
        """Return the path of the error when a value at `path` breaks the rule."""
        return path.child(self.field_path) if self.field_path else path

    def error(self, path: Path, value: Any, detail: str) -> FieldError:
        """Return the error for a value that breaks the rule."""
        at = self.at(path)
        shown = OMITTED if isinstance(value, dict | list) else value
        if self.reason == "FieldValueForbidden":
            return forbidden(at, detail)
        if self.reason == "FieldValueRequired":
            return required(at, detail)
        return duplicate(at, shown) if self.reason == "FieldValueDuplicate" else invalid(at, shown, detail)
