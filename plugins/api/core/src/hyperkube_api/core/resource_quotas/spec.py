"""How the API server serves resource quotas."""

from __future__ import annotations

from hyperkube_api.core.resource_quotas.strategy import ResourceQuotaStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def resource_quotas() -> ResourceSpec:
    """Return the specification of the resource ``resourcequotas``."""
    return V1.resource(
        "resourcequotas",
        "ResourceQuota",
        short_names=("quota",),
        storage_prefix="resourcequotas",
        storage_version_hash="8uhSgffRX6w=",
        strategy=ResourceQuotaStrategy(),
        columns=(
            NAME,
            column(
                "Request",
                description="Request represents a minimum amount of cpu/memory that a container may consume.",
            ),
            column(
                "Limit",
                description="Limits control the maximum amount of cpu/memory that a container may use "
                "independent of contention on the node.",
            ),
            AGE,
        ),
        cells=OnFirstUse("hyperkube_api.core.resource_quotas.table:resource_quota_cells"),
        subresources=(V1.status("ResourceQuota"),),
    )
