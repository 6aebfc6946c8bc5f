"""How the API server serves ResourceSlices."""

from __future__ import annotations

from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, fields
from hyperkube_api.resource.resource_slices.strategy import ResourceSliceStrategy
from hyperkube_api.resource.versions import V1

from hyperkube.hookspecs.api import ResourceSpec


def resource_slices() -> ResourceSpec:
    """Return the specification of the resource ``resourceslices``."""
    return V1.resource(
        "resourceslices",
        "ResourceSlice",
        namespaced=False,
        storage_prefix="resourceslices",
        storage_version_hash="KsC072WgaEY=",
        strategy=ResourceSliceStrategy(),
        columns=(
            NAME,
            column("Node", field="spec.nodeName"),
            column("Driver", field="spec.driver"),
            column("Pool", field="spec.pool.name"),
            AGE,
        ),
        cells=OnFirstUse("hyperkube_api.resource.resource_slices.table:resource_slice_cells"),
        fields=fields("spec.nodeName", "spec.driver"),
        names_kind_in_selectors=True,
    )
