"""Webhooks and admission policies: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/admissionregistration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.admissionregistration.defaults import default_policy, default_policy_binding, default_webhooks
from hyperkube_api.admissionregistration.validation.policies import (
    validate_mutating_binding,
    validate_mutating_policy,
    validate_validating_binding,
    validate_validating_policy,
)
from hyperkube_api.admissionregistration.validation.policy_status import validate_policy_status
from hyperkube_api.admissionregistration.validation.webhooks import validate_webhooks
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class _WebhooksStrategy(Strategy):
    """Remote parties that have a say in writes."""

    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in policies, selectors and timeouts."""
        default_webhooks(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check each webhook."""
        return validate_webhooks(obj)


class MutatingWebhookConfigurationStrategy(_WebhooksStrategy):
    """Webhooks that change what is written."""


class ValidatingWebhookConfigurationStrategy(_WebhooksStrategy):
    """Webhooks that refuse what is written."""


class MutatingAdmissionPolicyStrategy(Strategy):
    """Expressions that change what is written."""

    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in policies and selectors."""
        default_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check what is matched and the mutations."""
        return validate_mutating_policy(obj)


class ValidatingAdmissionPolicyStrategy(StatusStrategy):
    """Expressions that refuse what is written."""

    generation = True
    allow_unconditional_update = False
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata")}

    def default(self, obj: Object) -> None:
        """Fill in policies and selectors."""
        default_policy(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check what is matched and the validations."""
        return validate_validating_policy(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what the type checker says."""
        return validate_policy_status(obj)


class MutatingAdmissionPolicyBindingStrategy(Strategy):
    """Where a mutating policy applies."""

    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in selectors."""
        default_policy_binding(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policy and parameters."""
        return validate_mutating_binding(obj)


class ValidatingAdmissionPolicyBindingStrategy(Strategy):
    """Where a validating policy applies, and what its refusals do."""

    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in selectors."""
        default_policy_binding(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policy, parameters and actions."""
        return validate_validating_binding(obj)
