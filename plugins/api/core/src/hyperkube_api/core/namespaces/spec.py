"""How the API server serves namespaces."""

from __future__ import annotations

from hyperkube_api.core.namespaces.strategy import NamespaceFinalizeStrategy, NamespaceStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, fields

from hyperkube.hookspecs.api import ResourceSpec


def namespaces() -> ResourceSpec:
    """Return the specification of the resource ``namespaces``."""
    return V1.resource(
        "namespaces",
        "Namespace",
        namespaced=False,
        verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        short_names=("ns",),
        storage_prefix="namespaces",
        storage_version_hash="Q3oi5N2YM8M=",
        strategy=NamespaceStrategy(),
        columns=(NAME, column("Status", description="The status of the namespace"), AGE),
        cells=OnFirstUse("hyperkube_api.core.namespaces.table:namespace_cells"),
        fields=fields("status.phase"),
        subresources=(
            V1.part("finalize", "Namespace", NamespaceFinalizeStrategy(), ("update",)),
            V1.status("Namespace"),
        ),
    )
