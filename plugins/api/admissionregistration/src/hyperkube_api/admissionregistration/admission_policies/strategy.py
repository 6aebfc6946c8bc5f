"""What happens when an admission policy is created, changed or deleted.

A server needs the rules with the first policy, not to start: they are imported by the first check.

Source: kubernetes pkg/registry/admissionregistration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class MutatingAdmissionPolicyStrategy(Strategy):
    """Expressions that change what is written."""

    plain_finalizers = True
    metadata_checks = ("object",)
    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in policies and selectors."""
        from hyperkube_api.admissionregistration.admission_policies.defaults import default_policy

        default_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check what is matched and the mutations."""
        from hyperkube_api.admissionregistration.admission_policies.validation import validate_mutating_policy

        return validate_mutating_policy(obj)


class ValidatingAdmissionPolicyStrategy(StatusStrategy):
    """Expressions that refuse what is written."""

    plain_finalizers = True
    metadata_checks = ("object",)
    generation = True
    allow_unconditional_update = False
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata")}

    def default(self, obj: Object) -> None:
        """Fill in policies and selectors."""
        from hyperkube_api.admissionregistration.admission_policies.defaults import default_policy

        default_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check what is matched and the validations."""
        from hyperkube_api.admissionregistration.admission_policies.validation import validate_validating_policy

        return validate_validating_policy(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what the type checker reports."""
        from hyperkube_api.admissionregistration.admission_policies.validation import validate_policy_status

        return validate_policy_status(obj)
