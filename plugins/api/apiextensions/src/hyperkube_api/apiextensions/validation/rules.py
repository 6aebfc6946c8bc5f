"""Validation of the rules of a schema.

Source: kubernetes apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_api.apiextensions.validation.costs import CostEstimator, TotalCost
from hyperkube_api.apiextensions.validation.field_paths import NotAFieldPath, follow
from hyperkube_api.apiextensions.validation.internal import shown_rule

from hyperkube.machinery.dataclass import dataclass
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
class RuleContext:
    """A schema with rules, and where it is declared.

    Attributes:
        path: where the schema is.
        schema: the schema.
        root: whether it is the schema of a whole object.
        uncorrelatable: the nearest schema above whose values cannot be matched with old ones, empty without any.
        max_cardinality: how often a value can occur there, None without bound.
    """

    path: Path
    schema: Object
    root: bool = False
    uncorrelatable: str = ""
    max_cardinality: int | None = 1


def check_form(path: Path, rule: Object, schema: Object) -> list[FieldError]:
    """Check a rule without compiling it."""
    text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
    errors: list[FieldError] = []
    if not text:
        errors.append(required(path.child("rule"), "rule is not specified"))
    elif message and not message.strip():
        errors.append(invalid(path.child("message"), message, "message must be non-empty if specified"))
    elif _BREAKS & set(message.strip()):
        errors.append(invalid(path.child("message"), message, "must not contain line breaks"))
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
        errors.append(invalid(path, text, "must not contain line breaks"))
    try:
        follow(text, schema)
    except NotAFieldPath:
        errors.append(invalid(path, text, "must be a valid path"))
    return errors


def check_compiled(context: RuleContext, total_cost: TotalCost) -> list[FieldError]:
    """Compile the rules of a schema and estimate what they cost."""
    from hyperkube_api.apiextensions.cel.compilation import InvalidRule, environments
    from hyperkube_lib.cel.sizes import size_of

    try:
        plain, optional = environments(context.schema, root=context.root)
    except InvalidRule:
        return [FieldError("InternalError", context.path.child(RULES), None, _NO_TYPE)]
    size = size_of(context.schema, root=context.root)
    errors: list[FieldError] = []
    for index, rule in enumerate(context.schema[RULES]):
        if str(rule.get("rule") or "").strip() and size is not None:
            scope = optional if rule.get("optionalOldSelf") else plain
            estimator = CostEstimator(total_cost, size, context.max_cardinality)
            errors += _rule(context.path.child(RULES).index(index), rule, scope, context.uncorrelatable, estimator)
    return errors


def _rule(
    path: Path, rule: Object, scope: Environment, uncorrelatable: str, estimator: CostEstimator
) -> list[FieldError]:
    from hyperkube_api.apiextensions.cel.compilation import InvalidRule, compile_message, compile_rule

    errors: list[FieldError] = []
    names: frozenset[str] = frozenset()
    try:
        program = compile_rule(scope, str(rule["rule"]))
        names = program.names
        errors += estimator.rule(path.child("rule"), program)
    except InvalidRule as error:
        errors.append(invalid(path.child("rule"), shown_rule(rule), str(error)))
    expression = str(rule.get("messageExpression") or "")
    if expression.strip():
        try:
            errors += estimator.message(path.child("messageExpression"), compile_message(scope, expression))
        except InvalidRule as error:
            errors.append(invalid(path.child("messageExpression"), shown_rule(rule), str(error)))
    if "oldSelf" in names and uncorrelatable:
        text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
        errors.append(invalid(path.child("rule"), rule["rule"], text))
    if "oldSelf" not in names and rule.get("optionalOldSelf") is not None:
        text = "may not be set if oldSelf is not used in rule"
        errors.append(invalid(path.child("optionalOldSelf"), rule["optionalOldSelf"], text))
    return errors
