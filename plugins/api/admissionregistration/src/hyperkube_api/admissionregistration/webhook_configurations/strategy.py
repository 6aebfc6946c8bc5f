"""What happens when a webhook configuration is created, changed or deleted.

Source: kubernetes pkg/registry/admissionregistration.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class _WebhooksStrategy(Strategy):
    """Webhooks that change or refuse what is written."""

    plain_finalizers = True
    metadata_checks = ("object",)
    generation = True
    allow_unconditional_update = False

    def default(self, obj: Object) -> None:
        """Fill in policies, selectors and timeouts."""
        from hyperkube_api.admissionregistration.webhook_configurations.defaults import default_webhooks

        default_webhooks(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check each webhook."""
        from hyperkube_api.admissionregistration.webhook_configurations.validation import validate_webhooks

        return validate_webhooks(obj)


class MutatingWebhookConfigurationStrategy(_WebhooksStrategy):
    """Webhooks that change what is written."""


class ValidatingWebhookConfigurationStrategy(_WebhooksStrategy):
    """Webhooks that refuse what is written."""
