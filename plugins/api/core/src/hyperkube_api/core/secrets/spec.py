"""How the API server serves Secrets."""

from __future__ import annotations

from hyperkube_api.core.secrets.strategy import SecretStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, fields

from hyperkube.hookspecs.api import ResourceSpec


def secrets() -> ResourceSpec:
    """Return the specification of the resource ``secrets``."""
    return V1.resource(
        "secrets",
        "Secret",
        storage_prefix="secrets",
        storage_version_hash="S6u1pOWzb84=",
        strategy=SecretStrategy(),
        columns=(NAME, column("Type", field="type"), column("Data", field="data"), AGE),
        cells=OnFirstUse("hyperkube_api.core.secrets.table:secret_cells"),
        fields=fields("type"),
    )
