"""How the API server serves ResourceClaims."""

from __future__ import annotations

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.resource.resource_claims.strategy import ResourceClaimStrategy
from hyperkube_api.resource.versions import V1

from hyperkube.hookspecs.api import ResourceSpec


def resource_claims() -> ResourceSpec:
    """Return the specification of the resource ``resourceclaims``."""
    return V1.resource(
        "resourceclaims",
        "ResourceClaim",
        storage_prefix="resourceclaims",
        storage_version_hash="wgAZaHcZxUg=",
        strategy=ResourceClaimStrategy(),
        columns=(
            NAME,
            column("State", description="A summary of the current state (allocated, pending, reserved, etc.)."),
            AGE,
        ),
        cells=OnFirstUse("hyperkube_api.resource.resource_claims.table:resource_claim_cells"),
        subresources=(V1.status("ResourceClaim"),),
    )
