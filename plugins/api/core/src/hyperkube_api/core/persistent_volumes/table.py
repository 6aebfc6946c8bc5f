"""The table of persistent volumes.

Source: kubernetes pkg/printers/internalversion/printers.go (printPersistentVolume).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.persistent_volume_claims.table import access_modes, attributes_class, storage_class
from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def persistent_volume_cells(obj: Object, now: datetime) -> list[Any]:
    """Return what there is of the volume, who has it, and its class; wide: its mode."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    claim = spec.get("claimRef")
    phase = status.get("phase") or ""
    return [
        cells.name(obj),
        (spec.get("capacity") or {}).get("storage") or "0",
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy") or "",
        "Terminating" if obj["metadata"].get("deletionTimestamp") else phase,
        f"{claim.get('namespace') or ''}/{claim.get('name') or ''}" if claim else "",
        storage_class(obj),
        attributes_class(spec),
        status.get("reason") or "",
        cells.age(obj, now),
        spec.get("volumeMode") or cells.UNSET,
    ]
