"""What the type checker says of a validating policy.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.meta.validation import condition_list

from hyperkube.machinery.field import ROOT, FieldError, required
from hyperkube.machinery.objects import Object

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
