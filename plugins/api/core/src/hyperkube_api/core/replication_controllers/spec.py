"""How the API server serves replication controllers."""

from __future__ import annotations

from hyperkube_api.core.replication_controllers.strategy import ReplicationControllerStrategy
from hyperkube_api.core.scale import scale
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, fields

from hyperkube.hookspecs.api import ResourceSpec


def replication_controllers() -> ResourceSpec:
    """Return the specification of the resource ``replicationcontrollers``."""
    return V1.resource(
        "replicationcontrollers",
        "ReplicationController",
        short_names=("rc",),
        categories=("all",),
        storage_prefix="controllers",
        storage_version_hash="Jond2If31h0=",
        strategy=ReplicationControllerStrategy(),
        columns=(
            NAME,
            column("Desired", type="integer", field="spec.replicas"),
            column("Current", type="integer", field="status.replicas"),
            column("Ready", type="integer", field="status.readyReplicas"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.core.replication_controllers.table:replication_controller_cells"),
        fields=fields("status.replicas"),
        subresources=(
            scale(V1, "replicationcontrollers"),
            V1.status("ReplicationController"),
        ),
    )
