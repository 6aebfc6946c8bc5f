"""How the API server serves FlowSchemas."""

from __future__ import annotations

from hyperkube_api.flowcontrol.flow_schemas.strategy import FlowSchemaStrategy
from hyperkube_api.flowcontrol.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def flow_schemas() -> ResourceSpec:
    """Return the specification of the resource ``flowschemas``."""
    return V1.resource(
        "flowschemas",
        "FlowSchema",
        namespaced=False,
        storage_prefix="flowschemas",
        storage_version_hash="GJVAJZSZBIw=",
        strategy=FlowSchemaStrategy(),
        columns=(
            NAME,
            column("PriorityLevel", field="spec.priorityLevelConfiguration.name"),
            column("MatchingPrecedence", field="spec.matchingPrecedence"),
            column("DistinguisherMethod", field="spec.distinguisherMethod"),
            AGE,
            column("MissingPL", description="references a broken or non-existent PriorityLevelConfiguration"),
        ),
        cells=OnFirstUse("hyperkube_api.flowcontrol.flow_schemas.table:flow_schema_cells"),
        row_order=OnFirstUse("hyperkube_api.flowcontrol.flow_schemas.table:flow_schema_order"),
        subresources=(V1.status("FlowSchema"),),
    )
