"""How the API server serves nodes."""

from __future__ import annotations

from hyperkube_api.core.nodes.strategy import NodeStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import PROXY_VERBS, OnFirstUse, connect, fields

from hyperkube.hookspecs.api import ResourceSpec


def nodes() -> ResourceSpec:
    """Return the specification of the resource ``nodes``."""
    return V1.resource(
        "nodes",
        "Node",
        namespaced=False,
        short_names=("no",),
        storage_prefix="minions",
        storage_version_hash="XwShjMxG9Fs=",
        strategy=NodeStrategy(),
        columns=(
            NAME,
            column("Status", description="The status of the node"),
            column("Roles", description="The roles of the node"),
            AGE,
            column("Version", field="status.nodeInfo.kubeletVersion"),
            column("Internal-IP", priority=1, field="status.addresses"),
            column("External-IP", priority=1, field="status.addresses"),
            column("OS-Image", priority=1, field="status.nodeInfo.osImage"),
            column("Kernel-Version", priority=1, field="status.nodeInfo.kernelVersion"),
            column("Container-Runtime", priority=1, field="status.nodeInfo.containerRuntimeVersion"),
        ),
        cells=OnFirstUse("hyperkube_api.core.nodes.table:node_cells"),
        fields=fields(flags=("spec.unschedulable",)),
        subresources=(
            connect("proxy", V1.kind("NodeProxyOptions"), PROXY_VERBS),
            V1.status("Node"),
        ),
    )
