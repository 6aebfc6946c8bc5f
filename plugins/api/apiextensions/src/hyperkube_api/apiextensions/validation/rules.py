"""What is wrong with the rules of a schema.

Source: kubernetes apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperkube_api.apiextensions.validation.costs import Bill, Tariff
from hyperkube_api.apiextensions.validation.field_paths import NotAFieldPath, follow
from hyperkube_api.apiextensions.validation.internal import shown_rule

from hyperkube.machinery.field import FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_lib.cel import Environment

RULES = "x-kubernetes-validations"
REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_BREAKS = frozenset("\r\n")
_NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert "
    "structural schema to CEL declarations"
)


@dataclass(frozen=True, slots=True)
class RuleLevel:
    """A level of a schema: where it is, and the place above within which nothing can be told to be the same as before.

    Attributes:
        times: how often a value can occur there, None without bound.
    """

    path: Path
    schema: Object
    root: bool = False
    uncorrelatable: str = ""
    times: int | None = 1


def form(path: Path, rule: Object, schema: Object) -> list[FieldError]:
    """Check a rule without compiling it."""
    text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
    errors: list[FieldError] = []
    if not text:
        errors.append(required(path.child("rule"), "rule is not specified"))
    elif message and not message.strip():
        errors.append(invalid(path.child("message"), message, "message must be non-empty if specified"))
    elif _BREAKS & set(message.strip()):
        errors.append(invalid(path.child("message"), message, "message must not contain line breaks"))
    elif _BREAKS & set(text) and not message.strip():
        errors.append(required(path.child("message"), "message must be specified if rule contains line breaks"))
    expression = str(rule.get("messageExpression") or "")
    if expression and not expression.strip():
        at = path.child("messageExpression")
        errors.append(required(at, "messageExpression must be non-empty if specified"))
    reason = rule.get("reason")
    if reason is not None and reason not in REASONS:
        errors.append(not_supported(path.child("reason"), reason, REASONS))
    return errors + _field_path(path.child("fieldPath"), str(rule.get("fieldPath") or ""), schema)


def _field_path(path: Path, text: str, schema: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if text and not text.strip():
        errors.append(invalid(path, text, "fieldPath must be non-empty if specified"))
    if _BREAKS & set(text):
        errors.append(invalid(path, text, "fieldPath must not contain line breaks"))
    try:
        follow(text, schema)
    except NotAFieldPath:
        errors.append(invalid(path, text, "fieldPath must be a valid path"))
    return errors


def compiled(level: RuleLevel, bill: Bill) -> list[FieldError]:
    """Compile the rules of a level and reckon what they cost."""
    from hyperkube_api.apiextensions.rules import NotARule, environments
    from hyperkube_lib.cel.sizes import size_of

    try:
        plain, optional = environments(level.schema, root=level.root)
    except NotARule:
        return [FieldError("InternalError", level.path.child(RULES), None, _NO_TYPE)]
    size = size_of(level.schema, root=level.root)
    errors: list[FieldError] = []
    for index, rule in enumerate(level.schema[RULES]):
        if str(rule.get("rule") or "").strip() and size is not None:
            scope = optional if rule.get("optionalOldSelf") else plain
            tariff = Tariff(bill, size, level.times)
            errors += _rule(level.path.child(RULES).index(index), rule, scope, level.uncorrelatable, tariff)
    return errors


def _rule(path: Path, rule: Object, scope: Environment, uncorrelatable: str, tariff: Tariff) -> list[FieldError]:
    from hyperkube_api.apiextensions.rules import NotARule, compile_message, compile_rule

    errors: list[FieldError] = []
    names: frozenset[str] = frozenset()
    try:
        program = compile_rule(scope, str(rule["rule"]))
        names = program.names
        errors += tariff.rule(path.child("rule"), program)
    except NotARule as error:
        errors.append(invalid(path.child("rule"), shown_rule(rule), str(error)))
    expression = str(rule.get("messageExpression") or "")
    if expression.strip():
        try:
            errors += tariff.message(path.child("messageExpression"), compile_message(scope, expression))
        except NotARule as error:
            errors.append(invalid(path.child("messageExpression"), shown_rule(rule), str(error)))
    if "oldSelf" in names and uncorrelatable:
        text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
        errors.append(invalid(path.child("rule"), rule["rule"], text))
    if "oldSelf" not in names and rule.get("optionalOldSelf") is not None:
        text = "may not be set if oldSelf is not used in rule"
        errors.append(invalid(path.child("optionalOldSelf"), rule["optionalOldSelf"], text))
    return errors
