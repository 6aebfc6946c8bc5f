"""Defaults of webhook configurations; in place and idempotent.

Source: kubernetes pkg/apis/admissionregistration/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.meta.defaults import HTTPS_PORT, set_defaults

from hyperkube.machinery.objects import Object


def default_webhooks(configuration: Object) -> None:
    """Fill in a mutating or validating webhook configuration."""
    from hyperkube_api.admissionregistration.matching import default_rules

    mutating = configuration.get("kind") == "MutatingWebhookConfiguration"
    for webhook in configuration.get("webhooks") or ():
        set_defaults(
            webhook,
            failurePolicy="Fail",
            matchPolicy="Equivalent",
            namespaceSelector={},
            objectSelector={},
            timeoutSeconds=10,
        )
        if mutating:
            set_defaults(webhook, reinvocationPolicy="Never")
        service = (webhook.get("clientConfig") or {}).get("service")
        if service is not None:
            set_defaults(service, port=HTTPS_PORT)
        default_rules(webhook.get("rules"))
