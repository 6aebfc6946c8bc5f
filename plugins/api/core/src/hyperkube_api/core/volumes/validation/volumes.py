"""Volumes of pods: one source each, and what that source needs.

Source: kubernetes pkg/apis/core/validation (ValidateVolumes and around).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.csi_drivers import csi_driver_name
from hyperkube_api.core.paths import no_backsteps
from hyperkube_api.core.volumes.validation import drivers, projections
from hyperkube_api.core.volumes.validation.drivers import Check, needs
from hyperkube_api.meta.validation import by_rule, named

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
ONE_SOURCE = "may not specify more than 1 volume type"


def validate_volumes(path: Path, volumes: Sequence[Object] | None, pod_name: str = "") -> list[FieldError]:
    """Check the volumes of a pod."""
    return valid_volumes(path, volumes, pod_name)[1]


def valid_volumes(
    path: Path, volumes: Sequence[Object] | None, pod_name: str = "", *, in_pod: bool = True
) -> tuple[dict[str, Object], list[FieldError]]:
    """Check the volumes of a pod and return those without a fault by name, and the errors.

    Args:
        path: where the volumes are.
        volumes: the volumes, with their defaults.
        pod_name: the pod's name, from which those of ephemeral claims are made.
        in_pod: whether these are a pod's own, not a template's.
    """
    sound: dict[str, Object] = {}
    errors: list[FieldError] = []
    if not volumes:
        return sound, errors
    made = [item.get("name") or "" for item in volumes if item.get("ephemeral") is not None] if pod_name else []
    created = {f"{pod_name}-{name}" for name in made}
    for index, volume in enumerate(volumes):
        at, name = path.index(index), volume.get("name") or ""
        found = validate_sources(at, volume, pod_name, in_pod=in_pod)
        found += named(at.child("name"), name, names.dns1123_label)
        if name in sound:
            found.append(duplicate(at.child("name"), name))
        if found:
            errors += found
        else:
            sound[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") if created else None
        if claim in created:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(at.child("persistentVolumeClaim", "claimName"), claim, text))
    return sound, errors


def validate_sources(at: Path, volume: Object, pod_name: str = "", *, in_pod: bool = True) -> list[FieldError]:
    """Check that a volume has one source, and that source."""
    found = [member for member, source in volume.items() if source is not None and member in _CHECKS]
    if not found:
        return [required(at, "must specify a volume type")]
    if len(found) > 1:
        found = [member for member in _CHECKS if member in found]
    first = found[0]
    errors = _CHECKS[first](at.child(_SHOWN_AS.get(first, first)), volume[first])
    for member in found[1:]:
        errors.append(forbidden(at.child(_TOO_MANY_AS.get(member, member)), ONE_SOURCE))
        errors += _portal_fits(at, volume) if member == "iscsi" else []
    name = volume.get("name") or ""
    if first == "iscsi":
        errors += _portal_fits(at, volume)
    elif first == "ephemeral" and pod_name and name:
        claim = f"{pod_name}-{name}"
        errors += [
            invalid(at.child("name"), name, f'PVC name "{claim}": {text}') for text in names.dns1123_subdomain(claim)
        ]
    elif first == "image" and in_pod and not volume["image"].get("reference"):
        errors.insert(0, required(at.child("image", "reference")))
    return errors


def _portal_fits(at: Path, volume: Object) -> list[FieldError]:
    source, name = volume["iscsi"], volume.get("name") or ""
    size = len(f"{name}:{source.get('targetPortal') or ''}")
    if source.get("initiatorName") is None or size <= drivers.ISCSI_NAME_MAX:
        return []
    return [invalid(at.child("name"), name, drivers.ISCSI_TOO_LONG)]


def _empty_dir(path: Path, source: Object) -> list[FieldError]:
    limit = source.get("sizeLimit")
    if limit is not None and parse(limit).sign < 0:
        return [forbidden(path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity")]
    return []


def host_path(path: Path, source: Object) -> list[FieldError]:
    """Check a path on the node."""
    value = source.get("path") or ""
    if not value:
        return [required(path.child("path"))]
    errors = no_backsteps(path.child("path"), value)
    kind = source.get("type")
    if kind is not None and kind not in HOST_PATH_TYPES:
        errors.append(not_supported(path.child("type"), kind, HOST_PATH_TYPES))
    return errors


def _ephemeral(path: Path, source: Object) -> list[FieldError]:
    from hyperkube_api.core.persistent_volume_claims.validation import validate_claim_template  # few pods have some

    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(path.child("volumeClaimTemplate"))]
    return validate_claim_template(path.child("volumeClaimTemplate"), template)


def _image(path: Path, source: Object) -> list[FieldError]:
    policy, at = source.get("pullPolicy") or "", path.child("pullPolicy")
    if not policy:
        return [required(at)]
    return [] if policy in PULL_POLICIES else [not_supported(at, policy, PULL_POLICIES)]


def _csi(path: Path, source: Object) -> list[FieldError]:
    errors, secret = csi_driver_name(path.child("driver"), source.get("driver")), source.get("nodePublishSecretRef")
    if secret is None:
        return errors
    if not secret.get("name"):
        return [*errors, required(path.child("nodePublishSecretRef", "name"))]
    return errors + by_rule(path.child("name"), secret["name"], names.dns1123_subdomain)


_CHECKS: dict[str, Check] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": drivers.git_repo,
    "gcePersistentDisk": drivers.partition("pdName"),
    "awsElasticBlockStore": drivers.partition("volumeID"),
    "secret": projections.secret,
    "nfs": drivers.nfs,
    "iscsi": drivers.iscsi,
    "glusterfs": needs("endpoints", "path"),
    "flocker": drivers.flocker,
    "persistentVolumeClaim": needs("claimName"),
    "rbd": needs("monitors", "image"),
    "cinder": drivers.cinder,
    "cephfs": needs("monitors"),
    "quobyte": drivers.quobyte,
    "downwardAPI": projections.downward,
    "fc": drivers.fibre_channel,
    "flexVolume": drivers.flex_volume,
    "configMap": projections.config_map,
    "azureFile": needs("secretName", "shareName"),
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": drivers.azure_disk,
    "storageos": drivers.storage_os,
    "projected": projections.projected,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
_SHOWN_AS = {"gcePersistentDisk": "persistentDisk"}
"""What Kubernetes calls a source in the paths of its errors, where that is not its name."""
_TOO_MANY_AS = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""Likewise, where a source is one too many."""
