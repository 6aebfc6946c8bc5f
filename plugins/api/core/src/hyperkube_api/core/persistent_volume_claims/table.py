"""The table of claims to persistent volumes.

Source: kubernetes pkg/printers/internalversion/printers.go (printPersistentVolumeClaim).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, annotations_of

_SHORT = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def access_modes(modes: Sequence[str] | None) -> str:
    """Return the access modes of a volume or a claim by their abbreviations."""
    return ",".join(short for mode, short in _SHORT if mode in (modes or ()))


def storage_class(obj: Object) -> str:
    """Return the storage class of a volume or a claim; the annotation that preceded the field wins."""
    from hyperkube_api.core.persistent_volume_claims.validation import CLASS_ANNOTATION

    annotated = annotations_of(obj).get(CLASS_ANNOTATION)
    return cells.spec_of(obj).get("storageClassName") or "" if annotated is None else annotated


def attributes_class(spec: Object) -> str:
    """Return the VolumeAttributesClass of a volume or a claim."""
    name = spec.get("volumeAttributesClassName")
    return cells.UNSET if name is None else str(name)


def persistent_volume_claim_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the volume that a claim got, and its class; wide: its mode."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    capacity, modes = "", ""
    if spec.get("volumeName"):
        modes = access_modes(status.get("accessModes"))
        capacity = (status.get("capacity") or {}).get("storage") or "0"
    return [
        cells.name(obj),
        "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase") or "",
        spec.get("volumeName") or "",
        capacity,
        modes,
        storage_class(obj),
        attributes_class(spec),
        cells.age(obj, now),
        spec.get("volumeMode") or cells.UNSET,
    ]
