"""How the API server serves claims to persistent volumes."""

from __future__ import annotations

from hyperkube_api.core.persistent_volume_claims.strategy import PersistentVolumeClaimStrategy
from hyperkube_api.core.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def persistent_volume_claims() -> ResourceSpec:
    """Return the specification of the resource ``persistentvolumeclaims``."""
    return V1.resource(
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        short_names=("pvc",),
        storage_prefix="persistentvolumeclaims",
        storage_version_hash="QWTyNDq0dC4=",
        strategy=PersistentVolumeClaimStrategy(),
        columns=(
            NAME,
            column("Status", field="status.phase"),
            column("Volume", field="spec.volumeName"),
            column("Capacity", field="status.capacity"),
            column("Access Modes", field="status.accessModes"),
            column("StorageClass", description="StorageClass of the pvc"),
            column("VolumeAttributesClass", description="VolumeAttributesClass of the pvc"),
            AGE,
            column("VolumeMode", priority=1, field="spec.volumeMode"),
        ),
        cells=OnFirstUse("hyperkube_api.core.persistent_volume_claims.table:persistent_volume_claim_cells"),
        subresources=(V1.status("PersistentVolumeClaim"),),
    )
