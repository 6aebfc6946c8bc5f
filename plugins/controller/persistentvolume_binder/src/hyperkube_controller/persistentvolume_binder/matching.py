"""Which volume suits a claim: the smallest that is large enough and has what is asked for.

Source: kubernetes ``pkg/controller/volume/persistentvolume/index.go`` and ``volumeutil.FindMatchingVolume``.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.kinds.volumes import class_name
from hyperkube.machinery import quantity
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)


def is_for(volume: Object, claim: Object) -> bool:
    """Tell whether the volume names this claim, by its uid or, when bound beforehand, by its name alone."""
    reference = (volume.get("spec") or {}).get("claimRef") or {}
    same = (reference.get("namespace"), reference.get("name")) == (namespace_of(claim), name_of(claim))
    return same and reference.get("uid", "") in {"", uid_of(claim)}


def misfit(volume: Object, claim: Object) -> str:
    """Return why the volume does not satisfy the claim, or the empty string if it does."""
    wanted, offered = claim.get("spec") or {}, volume.get("spec") or {}
    asked = ((wanted.get("resources") or {}).get("requests") or {}).get("storage", "0")
    if quantity.parse((offered.get("capacity") or {}).get("storage", "0")) < quantity.parse(asked):
        return "requested PV is too small"
    if class_name(volume) != class_name(claim):
        return "storageClassName does not match"
    if offered.get("volumeMode", "Filesystem") != wanted.get("volumeMode", "Filesystem"):
        return "incompatible volumeMode"
    if not set(wanted.get("accessModes") or []) <= set(offered.get("accessModes") or []):
        return "incompatible accessMode"
    return ""


def find(volumes: Iterable[Object], claim: Object) -> Object | None:
    """Return the volume to bind the claim to: one that names it, else the smallest free one that satisfies it."""
    chosen = (claim.get("spec") or {}).get("selector")
    selector = None if chosen is None else from_label_selector(chosen)
    free: list[Object] = []
    for volume in volumes:
        if is_being_deleted(volume) or misfit(volume, claim):
            continue
        if (volume.get("spec") or {}).get("claimRef"):
            if is_for(volume, claim):
                return volume
            continue
        if (volume.get("status") or {}).get("phase", "Available") not in {"Available", "Pending"}:
            continue
        if selector is None or selector.matches(labels_of(volume)):
            free.append(volume)
    return min(
        free, key=lambda each: (quantity.parse(each["spec"]["capacity"]["storage"]), name_of(each)), default=None
    )
