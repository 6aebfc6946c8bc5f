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
    if _is_too_small(volume, claim):
        return "requested PV is too small"
    if class_name(volume) != class_name(claim):
        return "storageClassName does not match"
    if _attributes_class(volume) != _attributes_class(claim):
        return "volumeAttributesClassName does not match"
    if mode_mismatches(volume, claim):
        return "incompatible volumeMode"
    return "" if _has_access_modes(volume, claim) else "incompatible accessMode"


def mode_mismatches(volume: Object, claim: Object) -> bool:
    """Tell whether one is a file system and the other a block device."""
    modes = {(each.get("spec") or {}).get("volumeMode") or "Filesystem" for each in (volume, claim)}
    return len(modes) > 1


def _is_too_small(volume: Object, claim: Object) -> bool:
    asked = (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage", "0")
    offered = ((volume.get("spec") or {}).get("capacity") or {}).get("storage", "0")
    return quantity.parse(offered) < quantity.parse(asked)


def _attributes_class(obj: Object) -> str:
    return (obj.get("spec") or {}).get("volumeAttributesClassName") or ""


def _has_access_modes(volume: Object, claim: Object) -> bool:
    wanted, offered = ((each.get("spec") or {}).get("accessModes") or [] for each in (claim, volume))
    return set(wanted) <= set(offered)


def find(volumes: Iterable[Object], claim: Object, *, prebound_only: bool = False) -> Object | None:
    """Return the volume to bind the claim to: one that names it, else the smallest free one that satisfies it.

    Volumes with as few access modes as will do come first, however large: those with more may be needed by others.
    A volume that names the claim may be of another class, and need not have the labels that the claim selects.

    Args:
        volumes: all volumes.
        claim: the claim.
        prebound_only: leave the free ones to the scheduler, which knows the node.
    """
    levels: dict[tuple[int, tuple[str, ...]], list[Object]] = {}
    for volume in volumes:
        if _has_access_modes(volume, claim):
            modes = tuple(sorted(set((volume.get("spec") or {}).get("accessModes") or ())))
            levels.setdefault((len(modes), modes), []).append(volume)
    found = (_find_among(levels[level], claim, prebound_only=prebound_only) for level in sorted(levels))
    return next((volume for volume in found if volume is not None), None)


def _find_among(volumes: Iterable[Object], claim: Object, *, prebound_only: bool) -> Object | None:
    """Return the volume to bind the claim to among those with one and the same access modes."""
    chosen = (claim.get("spec") or {}).get("selector")
    selector = None if chosen is None else from_label_selector(chosen)
    free: list[Object] = []
    for volume in volumes:
        if is_being_deleted(volume) or _is_too_small(volume, claim) or mode_mismatches(volume, claim):
            continue
        if _attributes_class(volume) != _attributes_class(claim):
            continue
        if (volume.get("spec") or {}).get("claimRef"):
            if is_for(volume, claim):
                return volume
            continue
        if prebound_only or class_name(volume) != class_name(claim):
            continue
        if (volume.get("status") or {}).get("phase", "Available") not in {"Available", "Pending"}:
            continue
        if selector is None or selector.matches(labels_of(volume)):
            free.append(volume)
    return min(
        free, key=lambda each: (quantity.parse(each["spec"]["capacity"]["storage"]), name_of(each)), default=None
    )
