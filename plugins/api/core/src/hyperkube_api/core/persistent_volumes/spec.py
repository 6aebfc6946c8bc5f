"""How the API server serves persistent volumes."""

from __future__ import annotations

from hyperkube_api.core.persistent_volumes.strategy import PersistentVolumeStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def persistent_volumes() -> ResourceSpec:
    """Return the specification of the resource ``persistentvolumes``."""
    return V1.resource(
        "persistentvolumes",
        "PersistentVolume",
        namespaced=False,
        short_names=("pv",),
        storage_prefix="persistentvolumes",
        storage_version_hash="HN/zwEC+JgM=",
        strategy=PersistentVolumeStrategy(),
        columns=(
            NAME,
            column("Capacity", field="spec.capacity"),
            column("Access Modes", field="spec.accessModes"),
            column("Reclaim Policy", field="spec.persistentVolumeReclaimPolicy"),
            column("Status", field="status.phase"),
            column("Claim", field="spec.claimRef"),
            column("StorageClass", description="StorageClass of the pv"),
            column("VolumeAttributesClass", description="VolumeAttributesClass of the pv"),
            column("Reason", field="status.reason"),
            AGE,
            column("VolumeMode", priority=1, field="spec.volumeMode"),
        ),
        cells=OnFirstUse("hyperkube_api.core.persistent_volumes.table:persistent_volume_cells"),
        subresources=(V1.status("PersistentVolume"),),
    )
