"""How the API server serves PriorityLevelConfigurations."""

from __future__ import annotations

from hyperkube_api.flowcontrol.priority_levels.strategy import PriorityLevelConfigurationStrategy
from hyperkube_api.flowcontrol.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def priority_level_configurations() -> ResourceSpec:
    """Return the specification of the resource ``prioritylevelconfigurations``."""
    return V1.resource(
        "prioritylevelconfigurations",
        "PriorityLevelConfiguration",
        namespaced=False,
        storage_prefix="prioritylevelconfigurations",
        storage_version_hash="Kir5PVfvNeI=",
        strategy=PriorityLevelConfigurationStrategy(),
        columns=(
            NAME,
            column("Type", field="spec.type"),
            column("NominalConcurrencyShares", field="spec.limited.nominalConcurrencyShares"),
            column("Queues", field="spec.limited.limitResponse.queuing.queues"),
            column("HandSize", field="spec.limited.limitResponse.queuing.handSize"),
            column("QueueLengthLimit", field="spec.limited.limitResponse.queuing.queueLengthLimit"),
            AGE,
        ),
        cells=OnFirstUse("hyperkube_api.flowcontrol.priority_levels.table:priority_level_configuration_cells"),
        subresources=(V1.status("PriorityLevelConfiguration"),),
    )
