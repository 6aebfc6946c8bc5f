"""How the API server serves endpoints."""

from __future__ import annotations

from hyperkube_api.core.endpoints.strategy import EndpointsStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def endpoints() -> ResourceSpec:
    """Return the specification of the resource ``endpoints``."""
    return V1.resource(
        "endpoints",
        "Endpoints",
        short_names=("ep",),
        storage_prefix="services/endpoints",
        storage_version_hash="fWeeMqaN/OA=",
        strategy=EndpointsStrategy(),
        columns=(NAME, column("Endpoints", field="subsets"), AGE),
        cells=OnFirstUse("hyperkube_api.core.endpoints.table:endpoints_cells"),
        deprecated="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    )
