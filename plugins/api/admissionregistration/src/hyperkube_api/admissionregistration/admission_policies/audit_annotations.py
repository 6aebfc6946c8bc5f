"""Validation of the audit annotations of a ValidatingAdmissionPolicy.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.admissionregistration.expressions import Expressions
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, invalid, required
from hyperkube.machinery.objects import Object

MAX_ANNOTATIONS = 20
MAX_EXPRESSION = 5 * 1024
_SHAPE = "hyperkube_api.admissionregistration.v1:AuditAnnotation"


def validate_audit_annotations(
    path: Path, annotations: Sequence[Object], known: Expressions, *, policy: str
) -> list[FieldError]:
    """Check the annotations of the policy of that name, which is the prefix of their keys."""
    errors: list[FieldError] = []
    if len(annotations) > MAX_ANNOTATIONS:
        shown = [go_shape(_SHAPE, item) for item in annotations]
        errors.append(invalid(path, shown, f"must not have more than {MAX_ANNOTATIONS} auditAnnotations"))
    seen: set[str] = set()
    for index, item in enumerate(annotations):
        at, key = path.index(index), item.get("key") or ""
        errors += _key(at.child("key"), key, policy)
        errors += _expression(at.child("valueExpression"), item.get("valueExpression") or "", known)
        if key in seen:
            errors.append(duplicate(at.child("key"), key))
        seen.add(key)
    return errors


def _key(path: Path, key: str, policy: str) -> list[FieldError]:
    if not policy:
        return [invalid(path, key, "requires metadata.name be non-empty")]
    return by_rule(path, f"{policy}/{key}", names.qualified_name)


def _expression(path: Path, source: str, known: Expressions) -> list[FieldError]:
    if not source.strip():
        return [required(path, "valueExpression is not specified")]
    if len(source.strip().encode()) > MAX_EXPRESSION:
        return [required(path, f"must not exceed {MAX_EXPRESSION} bytes in length")]
    return known.annotation(path, source)
