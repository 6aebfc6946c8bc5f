"""Defaults of storage classes and drivers; in place and idempotent.

Source: kubernetes pkg/apis/storage/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_storage_class(storage_class: Object) -> None:
    """Fill in a storage class."""
    if storage_class.get("reclaimPolicy") is None:
        storage_class["reclaimPolicy"] = "Delete"
    if storage_class.get("volumeBindingMode") is None:
        storage_class["volumeBindingMode"] = "Immediate"


def default_csi_driver(driver: Object) -> None:
    """Fill in a CSI driver."""
    spec = driver["spec"]
    values = (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    )
    for member, value in values:
        if spec.get(member) is None:
            spec[member] = value
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]
