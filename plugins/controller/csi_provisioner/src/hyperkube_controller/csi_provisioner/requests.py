"""From a claim and its class to CreateVolume, and from its answer to the PersistentVolume.

Source: external-provisioner ``pkg/controller/controller.go`` (prepareProvision, Provision).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.csi import access_mode, volume_capability
from hyperkube_lib.csi_controllers.secrets import KEYS, PREFIX, SecretKind, secret_reference

from hyperkube.hookspecs.volume import BLOCK, VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of, namespace_of, uid_of
from hyperkube.machinery.quantity import Quantity, parse

FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
DELETION_SECRET = ("volume.kubernetes.io/provisioner-deletion-secret-name",
                   "volume.kubernetes.io/provisioner-deletion-secret-namespace")  # fmt: skip
IDENTITY_KEY = "storage.kubernetes.io/csiProvisionerIdentity"
_FS_TYPE = f"{PREFIX}fstype"
_SOURCES = {
    SecretKind.CONTROLLER_PUBLISH: "controllerPublishSecretRef",
    SecretKind.NODE_STAGE: "nodeStageSecretRef",
    SecretKind.NODE_PUBLISH: "nodePublishSecretRef",
    SecretKind.CONTROLLER_EXPAND: "controllerExpandSecretRef",
    SecretKind.NODE_EXPAND: "nodeExpandSecretRef",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A volume to be made.

    Attributes:
        name: of the PersistentVolume, and in the call.
        request: CreateVolume without secrets, content source and topology.
        source: ``csi`` of the PersistentVolume, without what the driver answers.
        secret: where the secret of CreateVolume and DeleteVolume is; may be empty.
    """

    name: str
    request: dict[str, Any]
    source: Object
    secret: Object


def volume_name(claim: Object) -> str:
    """Return the name of the volume of a claim."""
    return f"pvc-{uid_of(claim)}"


def claim_metadata(claim: Object) -> dict[str, str]:
    """Return the parameters that tell a driver of a claim. Source: ``--extra-create-metadata``."""
    told = {"pvc/name": name_of(claim), "pvc/namespace": namespace_of(claim), "pv/name": volume_name(claim)}
    return {f"{PREFIX}{key}": value for key, value in told.items()}


def requested_bytes(claim: Object) -> int:
    """Return how much a claim asks for."""
    asked = (((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage")
    return parse(str(asked)).value() if asked else 0


def wanted_volume(claim: Object, storage_class: Object, driver: str, can: frozenset[str]) -> Wanted:
    """Return what is to be made for a claim.

    Args:
        claim: asks for it.
        storage_class: of the claim.
        driver: makes it.
        can: what the driver's controller can do.

    Raises:
        VolumeFailed: the class is wrong.
    """
    spec, parameters = claim["spec"], dict(storage_class.get("parameters") or {})
    fs_types = [value for key, value in parameters.items() if key.lower() == "fstype" or key == _FS_TYPE]
    if len(fs_types) > 1:
        raise VolumeFailed(f'fstype specified in parameters with both "fstype" and "{_FS_TYPE}" keys')
    name, fs_type = volume_name(claim), fs_types[0] if fs_types else ""
    is_block = spec.get("volumeMode") == BLOCK
    flags = storage_class.get("mountOptions") or ()
    capabilities = [
        volume_capability(access_mode([mode], can), is_block=is_block, fs_type=fs_type, mount_flags=flags)
        for mode in spec.get("accessModes") or ()
    ]
    source: Object = {"driver": driver}
    for kind, field in _SOURCES.items():
        if reference := _secret(kind, parameters, name, claim):
            source[field] = reference
    if fs_type and not is_block:
        source["fsType"] = fs_type
    request: dict[str, Any] = {
        "name": name,
        "capacity_range": {"required_bytes": requested_bytes(claim)},
        "volume_capabilities": capabilities,
        "parameters": _passed_on(parameters),
    }
    secret = _secret(SecretKind.PROVISIONER, parameters, name, {**claim, "metadata": _bare(claim)})
    return Wanted(name=name, request=request, source=source, secret=secret)


def _bare(claim: Object) -> Object:
    """Return a claim's metadata without annotations: those would let users choose the provisioner's secret."""
    return {"name": name_of(claim), "namespace": namespace_of(claim)}


def _secret(kind: SecretKind, parameters: Mapping[str, str], name: str, claim: Object) -> Object:
    namespaces = {"pv.name": name, "pvc.namespace": namespace_of(claim)}
    names = {**namespaces, "pvc.name": name_of(claim)}
    names |= {f"pvc.annotations['{key}']": value for key, value in annotations_of(claim).items()}
    return secret_reference(kind, parameters, names, namespaces)


def _passed_on(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return what the driver gets of a class' parameters."""
    for key in parameters:
        if key.startswith(PREFIX) and key not in KEYS and key != _FS_TYPE:
            why = f'found unknown parameter key "{key}" with reserved namespace {PREFIX}'
            raise VolumeFailed(f"failed to strip CSI Parameters of prefixed keys: {why}")
    return {key: value for key, value in parameters.items() if not key.startswith(PREFIX)}


def persistent_volume(
    wanted: Wanted, claim: Object, storage_class: Object, made: Mapping[str, Any], affinity: Object | None
) -> Object:
    """Return the PersistentVolume of what the driver has made.

    Args:
        wanted: what was asked for.
        claim: for which it was made.
        storage_class: of the claim.
        made: ``volume`` of the driver's answer.
        affinity: from where it is reachable.
    """
    spec, driver = claim["spec"], wanted.source["driver"]
    capacity = int(made.get("capacity_bytes") or 0) or requested_bytes(claim)
    attributes = {IDENTITY_KEY: driver, **(made.get("volume_context") or {})}
    policy = storage_class.get("reclaimPolicy") or "Delete"
    annotations = {PROVISIONED_BY: driver}
    annotations |= dict(
        zip(DELETION_SECRET, (wanted.secret.get(part, "") for part in ("name", "namespace")), strict=True)
    )
    meta: Object = {"name": wanted.name, "annotations": annotations}
    if policy == "Delete":
        meta["finalizers"] = [FINALIZER]
    found: Object = {
        "capacity": {"storage": str(Quantity(capacity, form="BinarySI"))},
        "accessModes": list(spec.get("accessModes") or ()),
        "csi": {**wanted.source, "volumeHandle": made["volume_id"], "volumeAttributes": attributes},
        "persistentVolumeReclaimPolicy": policy,
        "storageClassName": name_of(storage_class),
        "claimRef": _reference(claim),
        "volumeMode": spec.get("volumeMode") or "Filesystem",
    }
    if options := storage_class.get("mountOptions"):
        found["mountOptions"] = list(options)
    if affinity is not None:
        found["nodeAffinity"] = affinity
    if spec.get("volumeAttributesClassName"):
        found["volumeAttributesClassName"] = spec["volumeAttributesClassName"]
    return {"kind": "PersistentVolume", "apiVersion": "v1", "metadata": meta, "spec": found}


def _reference(claim: Object) -> Object:
    about = {"namespace": namespace_of(claim), "name": name_of(claim), "uid": uid_of(claim)}
    version = metadata(claim).get("resourceVersion", "")
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", **about, "resourceVersion": version}
