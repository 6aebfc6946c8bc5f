"""How the API server serves DaemonSets."""

from __future__ import annotations

from hyperkube_api.apps.daemon_sets.strategy import TEMPLATE_GENERATION, DaemonSetStrategy
from hyperkube_api.apps.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def daemon_sets() -> ResourceSpec:
    """Return the specification of the resource ``daemonsets``."""
    return V1.resource(
        "daemonsets",
        "DaemonSet",
        short_names=("ds",),
        categories=("all",),
        storage_prefix="daemonsets",
        storage_version_hash="dd7pWHUlMKQ=",
        strategy=DaemonSetStrategy(),
        columns=(
            NAME,
            column("Desired", type="integer", field="status.desiredNumberScheduled"),
            column("Current", type="integer", field="status.currentNumberScheduled"),
            column("Ready", type="integer", field="status.numberReady"),
            column("Up-to-date", type="integer", field="status.updatedNumberScheduled"),
            column("Available", type="integer", field="status.numberAvailable"),
            column("Node Selector", field="spec.template.spec.nodeSelector"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.apps.daemon_sets.table:daemon_set_cells"),
        own_annotations=frozenset({TEMPLATE_GENERATION}),
        subresources=(V1.status("DaemonSet"),),
    )
