"""What is wrong with a namespace.

Source: kubernetes pkg/apis/core/validation (ValidateNamespace).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    invalid,
)
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate_namespace(obj: Object) -> list[FieldError]:
    """Check the finalizers of a new namespace's specification."""
    return [error for finalizer in _finalizers(obj) for error in _finalizer(_SPEC.child("finalizers"), finalizer)]


def validate_namespace_finalize(obj: Object) -> list[FieldError]:
    """Check the finalizers that ``/finalize`` leaves."""
    at = _SPEC.child("finalizers")
    return [error for index, text in enumerate(_finalizers(obj)) for error in _finalizer(at.index(index), text)]


def _finalizers(obj: Object) -> Sequence[str]:
    found: Sequence[str] = (obj.get("spec") or {}).get("finalizers") or ()
    return found


def _finalizer(at: Path, finalizer: str) -> list[FieldError]:
    errors = [invalid(at, finalizer, text) for text in names.qualified_name(finalizer)]
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        text = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(invalid(at, finalizer, text))
    return errors


def validate_namespace_status_update(obj: Object) -> list[FieldError]:
    """Check that the phase fits whether the namespace is going."""
    phase = (obj.get("status") or {}).get("phase") or ""
    at = _STATUS.child("Phase")
    if (obj.get("metadata") or {}).get("deletionTimestamp"):
        if phase != "Terminating":
            return [invalid(at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
    elif phase != "Active":
        return [invalid(at, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    return []
