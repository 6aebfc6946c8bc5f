"""How the API server serves ConfigMaps."""

from __future__ import annotations

from hyperkube_api.core.config_maps.strategy import ConfigMapStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def config_maps() -> ResourceSpec:
    """Return the specification of the resource ``configmaps``."""
    return V1.resource(
        "configmaps",
        "ConfigMap",
        short_names=("cm",),
        storage_prefix="configmaps",
        storage_version_hash="qFsyl6wFWjQ=",
        strategy=ConfigMapStrategy(),
        columns=(NAME, column("Data", field="data"), AGE),
        cells=OnFirstUse("hyperkube_api.core.config_maps.table:config_map_cells"),
    )
