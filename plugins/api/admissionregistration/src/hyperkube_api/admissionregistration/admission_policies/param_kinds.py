"""Validation of the kind of parameters that a policy takes.

Source: kubernetes pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object


def validate_param_kind(path: Path, kind: Object) -> list[FieldError]:
    """Check group, version and name of the kind of parameters."""
    version, name = kind.get("apiVersion") or "", kind.get("kind") or ""
    errors = _version(path.child("apiVersion"), version)
    if not name:
        errors.append(required(path.child("kind")))
    elif wrong := names.dns1035_label(name.lower()):
        text = "may have mixed case, but should otherwise match: " + ",".join(wrong)
        errors.append(invalid(path.child("kind"), name, text))
    return errors


def _version(path: Path, text: str) -> list[FieldError]:
    if not text:
        return [required(path)]
    if text.count("/") > 1:
        return [invalid(path, text, f"unexpected GroupVersion string: {text}")]
    group, _, version = text.rpartition("/")
    errors: list[FieldError] = []
    if group and (wrong := names.dns1123_subdomain(group)):
        errors.append(invalid(path, group, ",".join(wrong)))
    if not version:
        errors.append(invalid(path, text, "version must be specified"))
    elif wrong := names.dns1035_label(version):
        errors.append(invalid(path, version, ",".join(wrong)))
    return errors
