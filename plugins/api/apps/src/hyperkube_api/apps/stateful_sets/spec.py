"""How the API server serves StatefulSets."""

from __future__ import annotations

from hyperkube_api.apps.stateful_sets.strategy import StatefulSetStrategy
from hyperkube_api.apps.versions import V1
from hyperkube_api.core.scale import scale
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def stateful_sets() -> ResourceSpec:
    """Return the specification of the resource ``statefulsets``."""
    return V1.resource(
        "statefulsets",
        "StatefulSet",
        short_names=("sts",),
        categories=("all",),
        storage_prefix="statefulsets",
        storage_version_hash="H+vl74LkKdo=",
        strategy=StatefulSetStrategy(),
        columns=(
            NAME,
            column("Ready", description="Number of the pod with ready state"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
        ),
        cells=OnFirstUse("hyperkube_api.apps.stateful_sets.table:stateful_set_cells"),
        subresources=(
            scale(V1, "statefulsets"),
            V1.status("StatefulSet"),
        ),
    )
