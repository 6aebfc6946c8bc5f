"""How the API server serves limit ranges."""

from __future__ import annotations

from hyperkube_api.core.limit_ranges.strategy import LimitRangeStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def limit_ranges() -> ResourceSpec:
    """Return the specification of the resource ``limitranges``."""
    return V1.resource(
        "limitranges",
        "LimitRange",
        short_names=("limits",),
        storage_prefix="limitranges",
        storage_version_hash="EBKMFVe6cwo=",
        strategy=LimitRangeStrategy(),
        columns=(NAME, column("Created At", type="date")),
        cells=OnFirstUse("hyperkube_api.core.limit_ranges.table:limit_range_cells"),
    )
