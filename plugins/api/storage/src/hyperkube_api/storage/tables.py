"""Table rows of storage classes and drivers, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, annotations_of

DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
DEFAULT_CLASS_BETA = "storageclass.beta.kubernetes.io/is-default-class"


def storage_class(obj: Object, now: datetime) -> list[Any]:
    """Return who provisions, and how; the default one says so."""
    default = any(annotations_of(obj).get(key) == "true" for key in (DEFAULT_CLASS, DEFAULT_CLASS_BETA))
    return [
        f"{cells.name(obj)} (default)" if default else cells.name(obj),
        obj.get("provisioner") or "",
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        cells.age(obj, now),
    ]


def volume_attributes_class(obj: Object, now: datetime) -> list[Any]:
    """Return the driver."""
    return [cells.name(obj), obj.get("driverName") or "", cells.age(obj, now)]


def csi_driver(obj: Object, now: datetime) -> list[Any]:
    """Return what a driver needs."""
    spec = cells.spec_of(obj)
    requests = [item.get("audience") or "" for item in spec.get("tokenRequests") or ()]
    attach = spec.get("attachRequired")
    return [
        cells.name(obj),
        True if attach is None else attach,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(requests) if requests else cells.UNSET,
        bool(spec.get("requiresRepublish")),
        cells.joined(spec.get("volumeLifecycleModes")),
        cells.age(obj, now),
    ]


def csi_node(obj: Object, now: datetime) -> list[Any]:
    """Return how many drivers the node has."""
    return [cells.name(obj), len(cells.spec_of(obj).get("drivers") or ()), cells.age(obj, now)]


def csi_storage_capacity(obj: Object, now: datetime) -> list[Any]:
    """Return when it was made."""
    del now
    return [cells.name(obj), cells.created(obj)]


def volume_attachment(obj: Object, now: datetime) -> list[Any]:
    """Return which volume is to be attached where, and whether it is."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("attacher") or "",
        (spec.get("source") or {}).get("persistentVolumeName") or "",
        spec.get("nodeName") or "",
        bool(status.get("attached")),
        cells.age(obj, now),
    ]
