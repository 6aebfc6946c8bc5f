"""Whether a claim gets a volume now, whether a volume is deleted now, and what a failure means.

Sources: sig-storage-lib-external-provisioner ``controller/controller.go`` (shouldProvision, shouldDelete,
handleProtectionFinalizer), external-provisioner ``pkg/controller/controller.go`` (checkError, canDeleteVolume).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from hyperkube_lib.csi_translation import translated_back

from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    has_finalizer,
    is_being_deleted,
    name_of,
    with_finalizer,
    without_finalizer,
)

PROVISIONERS = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
SELECTED_NODE = "volume.kubernetes.io/selected-node"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"


class Outcome(Enum):
    """What has become of an attempt that failed."""

    FINAL = "nothing was left behind"
    IN_BACKGROUND = "it may be under way: the same is tried until it is certain"
    RESCHEDULE = "another node may have room"


_UNCERTAIN = frozenset({"CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE", "ABORTED"})
_FULL = "RESOURCE_EXHAUSTED"


def outcome_of(code: str, *, may_reschedule: bool) -> Outcome:
    """Return what a failed CreateVolume means, by the name of gRPC's status code."""
    if code == _FULL:
        return Outcome.RESCHEDULE if may_reschedule else Outcome.IN_BACKGROUND
    return Outcome.IN_BACKGROUND if code in _UNCERTAIN else Outcome.FINAL


def provisioner_of(claim: Object) -> str:
    """Return the driver that is asked for a volume; empty for none."""
    found = annotations_of(claim)
    return next((found[key] for key in (MIGRATED_TO, *PROVISIONERS) if found.get(key)), "")


def needs_volume(claim: Object, storage_class: Object | None) -> bool:
    """Tell whether a claim is to get a volume now."""
    if storage_class is None or (claim.get("spec") or {}).get("volumeName") or is_being_deleted(claim):
        return False
    if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer":
        return bool(annotations_of(claim).get(SELECTED_NODE))
    return True


def driver_of_volume(volume: Object) -> str:
    """Return the driver that a volume is of, empty if it is of none."""
    from hyperkube_controller.csi_provisioner.requests import PROVISIONED_BY

    found = annotations_of(volume)
    migrated = found.get(MIGRATED_TO) or found.get(PROVISIONED_BY)
    return migrated or str(((volume.get("spec") or {}).get("csi") or {}).get("driver", ""))


def as_named(volume: Object, provisioner: str) -> Object:
    """Return a driver's volume as a class asks for it: of a kind in the tree as that kind knew it.

    Raises:
        VolumeFailed: it cannot be said so.
    """
    from hyperkube_controller.csi_provisioner.requests import PROVISIONED_BY

    driver = volume["spec"]["csi"]["driver"]
    if provisioner == driver:
        return volume
    moved = translated_back(volume)
    marks = {**annotations_of(moved), PROVISIONED_BY: provisioner, MIGRATED_TO: driver}
    return {**moved, "metadata": {**moved["metadata"], "annotations": marks}}


def protected(volume: Object) -> Object:
    """Return the volume with or without the finalizer that keeps it until its storage is deleted."""
    from hyperkube_controller.csi_provisioner.requests import FINALIZER

    policy = (volume.get("spec") or {}).get("persistentVolumeReclaimPolicy")
    bound = (volume.get("status") or {}).get("phase") == "Bound"
    if policy == "Delete" and bound and not is_being_deleted(volume):
        return volume if has_finalizer(volume, FINALIZER) else with_finalizer(volume, FINALIZER)
    if policy in {"Retain", "Recycle"} and has_finalizer(volume, FINALIZER):
        return without_finalizer(volume, FINALIZER)
    return volume


def is_to_be_deleted(volume: Object) -> bool:
    """Tell whether the storage behind a volume is to be deleted."""
    from hyperkube_controller.csi_provisioner.requests import FINALIZER

    if is_being_deleted(volume) and not has_finalizer(volume, FINALIZER):
        return False
    spec, status = volume.get("spec") or {}, volume.get("status") or {}
    return status.get("phase") == "Released" and spec.get("persistentVolumeReclaimPolicy") == "Delete"


def still_attached(volume: Object, attachments: Iterable[Object]) -> str:
    """Return why a volume cannot be deleted yet, empty if it can."""
    for attachment in attachments:
        spec = attachment.get("spec") or {}
        if (spec.get("source") or {}).get("persistentVolumeName") == name_of(volume):
            return f"persistentvolume {name_of(volume)} is still attached to node {spec.get('nodeName', '')}"
    return ""
