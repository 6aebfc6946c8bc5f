"""Validation of admission policies.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

import re

from hyperkube_api.admissionregistration.admission_policies.audit_annotations import validate_audit_annotations
from hyperkube_api.admissionregistration.admission_policies.param_kinds import validate_param_kind
from hyperkube_api.admissionregistration.expressions import Expressions
from hyperkube_api.admissionregistration.matching import failure_policy, validate_conditions, validate_match
from hyperkube_api.meta.validation import condition_list

from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_IDENTIFIER = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
MUTATED = ("*", "CONNECT", "CREATE", "UPDATE")


def _is_identifier(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None and name not in _RESERVED


def _expressions(spec: Object, *, mutating: bool) -> Expressions:
    params = spec.get("paramKind") is not None
    return Expressions(params=params, variables=spec.get("variables") or (), patches=mutating)


def _common(spec: Object, known: Expressions, *, mutating: bool) -> list[FieldError]:
    errors = failure_policy(_SPEC.child("failurePolicy"), spec.get("failurePolicy"))
    kind = spec.get("paramKind")
    if kind is not None:
        errors += validate_param_kind(_SPEC.child("paramKind"), kind)
    match, at = spec.get("matchConstraints"), _SPEC.child("matchConstraints")
    if match is None:
        errors.append(required(at))
    else:
        errors += validate_match(at, match, **({"operations": MUTATED} if mutating else {}))
        if not match.get("resourceRules"):
            errors.append(required(at.child("resourceRules")))
    errors += validate_conditions(_SPEC.child("matchConditions"), spec.get("matchConditions"), known)
    for index, variable in enumerate(spec.get("variables") or ()):
        where, name = _SPEC.child("variables").index(index), variable.get("name") or ""
        if not name.strip():
            errors.append(required(where.child("name"), "name is not specified"))
        elif not _is_identifier(name):
            errors.append(invalid(where.child("name"), name, "name is not a valid CEL identifier"))
        if not (variable.get("expression") or "").strip():
            errors.append(required(where.child("expression"), "expression is not specified"))
        else:
            errors += known.variable(where.child("expression"), name, variable["expression"])
    return errors


def validate_validating_policy(obj: Object) -> list[FieldError]:
    """Check a validating admission policy."""
    spec = obj["spec"]
    known = _expressions(spec, mutating=False)
    errors = _common(spec, known, mutating=False)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        text = "validations or auditAnnotations must contain at least one item"
        errors += [required(_SPEC.child("validations"), text), required(_SPEC.child("auditAnnotations"), text)]
    for index, item in enumerate(validations):
        errors += _validation(_SPEC.child("validations").index(index), item, known)
    return errors + validate_audit_annotations(
        _SPEC.child("auditAnnotations"), annotations, known, policy=(obj.get("metadata") or {}).get("name") or ""
    )


def _validation(path: Path, item: Object, known: Expressions) -> list[FieldError]:
    expression, message = (item.get("expression") or "").strip(), item.get("message") or ""
    errors: list[FieldError] = []
    if not expression:
        errors.append(required(path.child("expression"), "expression is not specified"))
    else:
        errors += known.question(path.child("expression"), item["expression"])
    shown = item.get("messageExpression") or ""
    if shown.strip():
        errors += known.message(path.child("messageExpression"), shown)
    elif shown:
        text = "must be non-empty if specified"
        errors.append(invalid(path.child("messageExpression"), shown, text))
    if message and not message.strip():
        errors.append(invalid(path.child("message"), message, "message must be non-empty if specified"))
    elif {"\n", "\r"} & set(message.strip()):
        errors.append(invalid(path.child("message"), message, "must not contain line breaks"))
    reason = item.get("reason")
    if reason is not None and reason not in REASONS:
        errors.append(not_supported(path.child("reason"), reason, REASONS))
    return errors


def validate_mutating_policy(obj: Object) -> list[FieldError]:
    """Check a mutating admission policy."""
    spec = obj["spec"]
    known = _expressions(spec, mutating=True)
    errors = _common(spec, known, mutating=True)
    mutations, at = spec.get("mutations") or [], _SPEC.child("mutations")
    if not mutations:
        errors.append(required(at, "mutations must contain at least one item"))
    for index, item in enumerate(mutations):
        errors += _mutation(at.index(index), item, known)
    again = spec.get("reinvocationPolicy") or ""
    at = _SPEC.child("reinvocationPolicy")
    if again not in {"IfNeeded", "Never"}:
        errors.append(not_supported(at, again, ("IfNeeded", "Never")) if again else required(at))
    return errors


_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}


def _mutation(path: Path, item: Object, known: Expressions) -> list[FieldError]:
    kind = item.get("patchType") or ""
    if not kind:
        return [required(path.child("patchType"))]
    if kind not in _PATCHES:
        return [not_supported(path.child("patchType"), kind, tuple(_PATCHES))]
    own = _PATCHES[kind]
    at, source = path.child(own), (item.get(own) or {}).get("expression") or ""
    errors: list[FieldError] = []
    if item.get(own) is None:
        errors.append(required(at, f"must be specified when patchType is {kind}"))
    elif not source.strip():
        errors.append(required(at.child("expression")))
    else:
        errors += known.patch(at.child("expression"), source, kind)
    for member in _PATCHES.values():
        if member != own and item.get(member) is not None:
            text = f"must not be specified when patchType is {kind}"
            errors.append(invalid(path.child(member), f"{{{member}}}", text))
    return errors


_STATUS = ROOT.child("status")


def validate_policy_status(obj: Object) -> list[FieldError]:
    """Check warnings and conditions."""
    status = obj.get("status") or {}
    at = _STATUS.child("typeChecking", "expressionWarnings")
    errors: list[FieldError] = []
    for index, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        if not warning.get("warning"):
            errors.append(required(at.index(index).child("warning")))
        if not (warning.get("fieldRef") or "").strip():
            errors.append(required(at.index(index).child("fieldRef")))
    return errors + condition_list(_STATUS.child("conditions"), status.get("conditions"))
