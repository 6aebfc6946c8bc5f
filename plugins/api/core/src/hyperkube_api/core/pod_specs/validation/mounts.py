"""Where a container sees its pod's volumes: as directories or as devices.

Source: kubernetes pkg/apis/core/validation (ValidateVolumeMounts, ValidateVolumeDevices).
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_api.core.paths import relative_path

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_found, not_supported, required
from hyperkube.machinery.objects import Object

PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(path: Path, container: Object, volumes: Mapping[str, Object]) -> list[FieldError]:
    """Check where a container sees its pod's volumes."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    devices = container.get("volumeDevices") or ()
    device_names = {device.get("name") or "" for device in devices}
    device_paths = {device.get("devicePath") or "" for device in devices}
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        at, name, where = path.index(index), mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            errors.append(required(at.child("name")))
        if name not in volumes:
            errors.append(not_found(at.child("name"), name))
        if not where:
            errors.append(required(at.child("mountPath")))
        if where in seen:
            errors.append(invalid(at.child("mountPath"), where, "must be unique"))
        seen.add(where)
        if name in device_names:
            errors.append(invalid(at.child("name"), name, "must not already exist in volumeDevices"))
        if where in device_paths:
            text = "must not already exist as a path in volumeDevices"
            errors.append(invalid(at.child("mountPath"), where, text))
        errors += _sub_paths(path, index, mount)
        errors += _propagation(path, mount, container)
    return errors


def _sub_paths(path: Path, index: int, mount: Object) -> list[FieldError]:
    """Check where in the volume a mount begins; Kubernetes reports most of it without the mount's index."""
    errors: list[FieldError] = []
    sub, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    if sub:
        errors += relative_path(path.child("subPath"), sub)
    if expression:
        if sub:
            text = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(path.index(index).child("subPathExpr"), expression, text))
        errors += relative_path(path.child("subPathExpr"), expression)
    return errors


def _propagation(path: Path, mount: Object, container: Object) -> list[FieldError]:
    """Check what spreads from and to a mount; Kubernetes reports it without the mount's index."""
    errors: list[FieldError] = []
    mode, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if mode is not None:
        where = path.child("mountPropagation")
        if mode not in PROPAGATIONS:
            errors.append(not_supported(where, mode, PROPAGATIONS))
        elif mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            text = "Bidirectional mount propagation is available only to privileged containers"
            errors.append(forbidden(where, text))
    if recursive is not None:
        where = path.child("recursiveReadOnly")
        if recursive not in RECURSIVE:
            errors.append(not_supported(where, recursive, RECURSIVE))
        elif recursive != "Disabled":
            if not mount.get("readOnly"):
                errors.append(forbidden(where, "may only be specified when readOnly is true"))
            if mode not in {None, "None"}:
                errors.append(forbidden(where, "may only be specified when mountPropagation is None or not specified"))
    return errors


def validate_devices(path: Path, container: Object, volumes: Mapping[str, Object]) -> list[FieldError]:
    """Check which of its pod's volumes a container sees as devices."""
    errors: list[FieldError] = []
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    mounts = {mount.get("name") or "": mount.get("mountPath") or "" for mount in container.get("volumeMounts") or ()}
    for index, device in enumerate(container.get("volumeDevices") or ()):
        at, name, where = path.index(index), device.get("name") or "", device.get("devicePath") or ""
        at_name, at_path = at.child("name"), at.child("devicePath")
        if not name:
            errors.append(required(at_name))
        elif name in seen_names:
            errors.append(invalid(at_name, name, "must be unique"))
        errors += _block_volume(at_name, name, volumes.get(name))
        if not where:
            errors.append(required(at_path))
        if where in seen_paths:
            errors.append(invalid(at_path, where, "must be unique"))
        if ".." in where.split("/"):
            errors.append(invalid(at_path, where, "can not contain backsteps ('..')"))
        else:
            seen_paths.add(where)
        if name in mounts:
            errors.append(invalid(at_name, name, "must not already exist in volumeMounts"))
        if where in mounts.values():
            errors.append(invalid(at_path, where, "must not already exist as a path in volumeMounts"))
        seen_names.add(name)
    return errors


def _block_volume(path: Path, name: str, volume: Object | None) -> list[FieldError]:
    if volume is None:
        return [not_found(path, name)]
    if volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
        text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        return [invalid(path, name, text)]
    return []
