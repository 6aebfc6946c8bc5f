"""How the API server serves services."""

from __future__ import annotations

from hyperkube_api.core.services.allocator import ServiceAllocator
from hyperkube_api.core.services.strategy import ServiceStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import PROXY_VERBS, OnFirstUse, connect, fields

from hyperkube.hookspecs.api import ResourceSpec


def services() -> ResourceSpec:
    """Return the specification of the resource ``services``."""
    return V1.resource(
        "services",
        "Service",
        short_names=("svc",),
        categories=("all",),
        storage_prefix="services/specs",
        storage_version_hash="0/CO1lhkEBI=",
        strategy=ServiceStrategy(ServiceAllocator()),
        columns=(
            NAME,
            column("Type", field="spec.type"),
            column("Cluster-IP", field="spec.clusterIP"),
            column("External-IP", field="spec.externalIPs"),
            column("Port(s)", field="spec.ports"),
            AGE,
            column("Selector", priority=1, field="spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.core.services.table:service_cells"),
        fields=fields("spec.clusterIP", "spec.type"),
        subresources=(
            connect("proxy", V1.kind("ServiceProxyOptions"), PROXY_VERBS),
            V1.status("Service"),
        ),
    )
