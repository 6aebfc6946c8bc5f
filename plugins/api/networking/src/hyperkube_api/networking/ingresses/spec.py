"""How the API server serves Ingresses."""

from __future__ import annotations

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.networking.ingresses.strategy import IngressStrategy
from hyperkube_api.networking.versions import V1

from hyperkube.hookspecs.api import ResourceSpec


def ingresses() -> ResourceSpec:
    """Return the specification of the resource ``ingresses``."""
    return V1.resource(
        "ingresses",
        "Ingress",
        short_names=("ing",),
        storage_prefix="ingress",
        storage_version_hash="39NQlfNR+bo=",
        strategy=IngressStrategy(),
        columns=(
            NAME,
            column(
                "Class",
                description="The name of the IngressClass resource that should be used for additional configuration",
            ),
            column("Hosts", description="Hosts that incoming requests are matched against before the ingress rule"),
            column("Address", description="Address is a list containing ingress points for the load-balancer"),
            column("Ports", description="Ports of TLS configurations that open"),
            AGE,
        ),
        cells=OnFirstUse("hyperkube_api.networking.ingresses.table:ingress_cells"),
        subresources=(V1.status("Ingress"),),
    )
