"""How the API server serves Deployments."""

from __future__ import annotations

from hyperkube_api.apps.deployments.strategy import DeploymentStrategy
from hyperkube_api.apps.versions import V1
from hyperkube_api.core.scale import scale
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def deployments() -> ResourceSpec:
    """Return the specification of the resource ``deployments``."""
    return V1.resource(
        "deployments",
        "Deployment",
        short_names=("deploy",),
        categories=("all",),
        storage_prefix="deployments",
        storage_version_hash="8aSe+NMegvE=",
        strategy=DeploymentStrategy(),
        columns=(
            NAME,
            column("Ready", description="Number of the pod with ready state"),
            column("Up-to-date", field="status.updatedReplicas"),
            column("Available", field="status.availableReplicas"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.apps.deployments.table:deployment_cells"),
        subresources=(
            scale(V1, "deployments"),
            V1.status("Deployment"),
        ),
    )
