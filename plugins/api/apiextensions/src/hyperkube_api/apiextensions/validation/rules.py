"""What is wrong with the rules of a schema.

Source: kubernetes apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperkube_api.apiextensions.validation.costs import Bill, Tariff, times_below

from hyperkube.machinery.field import FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_lib.cel import Environment

RULES = "x-kubernetes-validations"
REASONS = ("FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate")
_TOKEN = re.compile(r"\.([^.\[\]]*)|\['((?:\\.|[^'\\])*)'\]|(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a schema: where it is, and the list within which no item can be told to be the same as before."""

    path: Path
    schema: Object
    root: bool
    uncorrelatable: str = ""
    times: int | None = 1


def validate_rules(path: Path, schema: Object, *, stored: bool = False) -> list[FieldError]:
    """Check all rules of a structural schema; `stored` tells that it is what it was, so no rule is too costly."""
    bill = Bill(limit_each=not stored)
    errors = [error for level in _levels(_Level(path, schema, root=True)) for error in _at(level, bill)]
    return errors + bill.errors(path)


def _levels(level: _Level) -> Iterator[_Level]:
    yield level
    path, schema, lost, times = level.path, level.schema, level.uncorrelatable, times_below(level.times, level.schema)
    for name, inner in sorted((schema.get("properties") or {}).items()):
        yield from _levels(_Level(path.child("properties").key(name), inner, _embedded(inner), lost, times))
    extra, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(extra, dict):
        yield from _levels(_Level(path.child("additionalProperties"), extra, _embedded(extra), lost, times))
    if isinstance(items, dict):
        lost = lost or ("" if schema.get("x-kubernetes-list-type") == "map" else str(path))
        yield from _levels(_Level(path.child("items"), items, _embedded(items), lost, times))


def _embedded(schema: Object) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _at(level: _Level, bill: Bill) -> list[FieldError]:
    rules = level.schema.get(RULES) or []
    if not rules:
        return []
    errors: list[FieldError] = []
    for index, rule in enumerate(rules):
        errors += _form(level.path.child(RULES).index(index), rule, level.schema)
    return errors + _compiled(level, rules, bill)


def _form(path: Path, rule: Object, schema: Object) -> list[FieldError]:
    text, message = str(rule.get("rule") or "").strip(), str(rule.get("message") or "")
    errors: list[FieldError] = []
    if not text:
        errors.append(required(path.child("rule"), "rule is not specified"))
    elif message and not message.strip():
        errors.append(invalid(path.child("message"), message, "message must be non-empty if specified"))
    elif "\n" in message.strip():
        errors.append(invalid(path.child("message"), message, "message must not contain line breaks"))
    elif "\n" in text and not message.strip():
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
    if not text:
        return []
    if not text.strip():
        return [invalid(path, text, "fieldPath must be non-empty if specified")]
    if "\n" in text:
        return [invalid(path, text, "fieldPath must not contain line breaks")]
    for match in _TOKEN.finditer(text):
        name, key, other = match.groups()
        if other is not None:
            return [
                invalid(path, text, f"fieldPath must be a valid path: expected [ or . but got: {text[match.start() :]}")
            ]
        found = _member(schema, name if name is not None else key)
        if found is None:
            return [invalid(path, text, "fieldPath must be a valid path: does not refer to a valid field")]
        schema = found
    return []


def _member(schema: Object, name: str) -> Object | None:
    if schema.get("properties") is not None:
        found: Object | None = schema["properties"].get(name)
        return found
    extra = schema.get("additionalProperties")
    return extra if isinstance(extra, dict) else None


def _compiled(level: _Level, rules: list[Object], bill: Bill) -> list[FieldError]:
    from hyperkube_api.apiextensions.rules import NotARule, environments
    from hyperkube_lib.cel.sizes import size_of

    try:
        plain, optional = environments(level.schema, root=level.root)
    except NotARule as error:
        return [invalid(level.path.child(RULES), "", str(error))]
    size = size_of(level.schema, root=level.root)
    errors: list[FieldError] = []
    for index, rule in enumerate(rules):
        if str(rule.get("rule") or "").strip() and size is not None:
            scope = optional if rule.get("optionalOldSelf") else plain
            tariff = Tariff(bill, size, level.times)
            errors += _rule(level.path.child(RULES).index(index), rule, scope, level.uncorrelatable, tariff)
    return errors


def _rule(path: Path, rule: Object, scope: Environment, uncorrelatable: str, tariff: Tariff) -> list[FieldError]:
    from hyperkube_api.apiextensions.rules import NotARule, compile_message, compile_rule

    errors: list[FieldError] = []
    try:
        program = compile_rule(scope, str(rule["rule"]))
    except NotARule as error:
        errors.append(invalid(path.child("rule"), _shown(rule), str(error)))
    else:
        errors += tariff.rule(path.child("rule"), program)
        if "oldSelf" not in program.names and rule.get("optionalOldSelf") is not None:
            text = "may not be set if oldSelf is not used in rule"
            errors.append(invalid(path.child("optionalOldSelf"), rule["optionalOldSelf"], text))
        elif "oldSelf" in program.names and uncorrelatable and not rule.get("optionalOldSelf"):
            text = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
            errors.append(invalid(path.child("rule"), rule["rule"], text))
    expression = str(rule.get("messageExpression") or "")
    if expression.strip():
        try:
            errors += tariff.message(path.child("messageExpression"), compile_message(scope, expression))
        except NotARule as error:
            errors.append(invalid(path.child("messageExpression"), _shown(rule), str(error)))
    return errors


def _shown(rule: Object) -> Object:
    """Return a rule as messages show it: Kubernetes' internal form, every member by its Go name."""
    names = {
        "Rule": "rule",
        "Message": "message",
        "MessageExpression": "messageExpression",
        "Reason": "reason",
        "FieldPath": "fieldPath",
        "OptionalOldSelf": "optionalOldSelf",
    }
    optional = {"Reason", "OptionalOldSelf"}
    return {shown: rule.get(name, None if shown in optional else "") for shown, name in names.items()}
