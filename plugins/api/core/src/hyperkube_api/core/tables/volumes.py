"""The rows of persistent volumes and of claims.

Source: kubernetes pkg/printers/internalversion/printers.go (printPersistentVolume, printPersistentVolumeClaim).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, annotations_of

CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_SHORT = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)


def _modes(modes: Sequence[str] | None) -> str:
    return ",".join(short for mode, short in _SHORT if mode in (modes or ()))


def _class(obj: Object) -> str:
    said = annotations_of(obj).get(CLASS_ANNOTATION)
    return cells.spec_of(obj).get("storageClassName") or "" if said is None else said


def _attributes_class(spec: Object) -> str:
    name = spec.get("volumeAttributesClassName")
    return cells.UNSET if name is None else str(name)


def persistent_volume(obj: Object, now: datetime) -> list[Any]:
    """Return what there is of the volume, who has it, and its class; wide: its mode."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    claim = spec.get("claimRef")
    phase = status.get("phase") or ""
    return [
        cells.name(obj),
        (spec.get("capacity") or {}).get("storage") or "0",
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy") or "",
        "Terminating" if obj["metadata"].get("deletionTimestamp") else phase,
        f"{claim.get('namespace') or ''}/{claim.get('name') or ''}" if claim else "",
        _class(obj),
        _attributes_class(spec),
        status.get("reason") or "",
        cells.age(obj, now),
        spec.get("volumeMode") or cells.UNSET,
    ]


def persistent_volume_claim(obj: Object, now: datetime) -> list[Any]:
    """Return the volume that a claim got, and its class; wide: its mode."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    capacity, modes = "", ""
    if spec.get("volumeName"):
        modes = _modes(status.get("accessModes"))
        capacity = (status.get("capacity") or {}).get("storage") or "0"
    return [
        cells.name(obj),
        "Terminating" if obj["metadata"].get("deletionTimestamp") else status.get("phase") or "",
        spec.get("volumeName") or "",
        capacity,
        modes,
        _class(obj),
        _attributes_class(spec),
        cells.age(obj, now),
        spec.get("volumeMode") or cells.UNSET,
    ]
