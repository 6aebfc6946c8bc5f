"""How the API server serves component statuses."""

from __future__ import annotations

from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def component_statuses() -> ResourceSpec:
    """Return the specification of the resource ``componentstatuses``."""
    return V1.resource(
        "componentstatuses",
        "ComponentStatus",
        namespaced=False,
        verbs=("get", "list"),
        short_names=("cs",),
        columns=(
            NAME,
            column("Status", description="Whether the component is healthy."),
            column("Message", description="What the component said."),
            column("Error", description="What went wrong."),
        ),
        cells=OnFirstUse("hyperkube_api.core.component_statuses.table:component_status_cells"),
        read=OnFirstUse("hyperkube_api.core.component_statuses.health:read_component_statuses"),
        deprecated="v1 ComponentStatus is deprecated in v1.19+",
    )
