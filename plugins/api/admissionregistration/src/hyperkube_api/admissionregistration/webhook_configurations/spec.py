"""How the API server serves webhook configurations."""

from __future__ import annotations

from hyperkube_api.admissionregistration.versions import V1
from hyperkube_api.admissionregistration.webhook_configurations.strategy import (
    MutatingWebhookConfigurationStrategy,
    ValidatingWebhookConfigurationStrategy,
)
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def mutating_webhook_configurations() -> ResourceSpec:
    """Return the specification of the resource ``mutatingwebhookconfigurations``."""
    return V1.resource(
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="mutatingwebhookconfigurations",
        storage_version_hash="Sqi0GUgDaX0=",
        strategy=MutatingWebhookConfigurationStrategy(),
        columns=(
            NAME,
            column(
                "Webhooks",
                type="integer",
                description="Webhooks indicates the number of webhooks registered in this configuration",
            ),
            AGE,
        ),
        cells=OnFirstUse(
            "hyperkube_api.admissionregistration.webhook_configurations.table:mutating_webhook_configuration_cells"
        ),
    )


def validating_webhook_configurations() -> ResourceSpec:
    """Return the specification of the resource ``validatingwebhookconfigurations``."""
    return V1.resource(
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        namespaced=False,
        categories=("api-extensions",),
        storage_prefix="validatingwebhookconfigurations",
        storage_version_hash="B0wHjQmsGNk=",
        strategy=ValidatingWebhookConfigurationStrategy(),
        columns=(
            NAME,
            column(
                "Webhooks",
                type="integer",
                description="Webhooks indicates the number of webhooks registered in this configuration",
            ),
            AGE,
        ),
        cells=OnFirstUse(
            "hyperkube_api.admissionregistration.webhook_configurations.table:validating_webhook_configuration_cells"
        ),
    )
