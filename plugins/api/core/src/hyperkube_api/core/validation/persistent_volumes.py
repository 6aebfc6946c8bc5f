"""Persistent volumes.

Source: kubernetes pkg/apis/core/validation (ValidatePersistentVolume and around).
"""

from __future__ import annotations

from hyperkube_api.core.validation.amounts import amount
from hyperkube_api.core.validation.claims import VOLUME_MODES, access_modes
from hyperkube_api.core.validation.scheduling import node_selector
from hyperkube_api.core.validation.volumes import csi_driver_name, host_path, nfs, no_backsteps
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.validation import by_rule, unchanged

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
SOURCES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd", "quobyte", "cephfs",
    "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume",
    "azureDisk", "scaleIO", "local", "storageos", "csi",
)  # fmt: skip
_NEEDED = {
    "gcePersistentDisk": ("pdName",), "awsElasticBlockStore": ("volumeID",), "glusterfs": ("endpoints", "path"),
    "rbd": ("monitors", "image"), "quobyte": ("registry", "volume"), "cephfs": ("monitors",),
    "iscsi": ("targetPortal", "iqn"), "cinder": ("volumeID",), "flexVolume": ("driver",),
    "azureFile": ("secretName", "shareName"), "vsphereVolume": ("volumePath",), "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",), "azureDisk": ("diskName", "diskURI"),
    "scaleIO": ("gateway", "system", "volumeName"),
}  # fmt: skip
_SPEC = ROOT.child("spec")


def validate_persistent_volume(volume: Object) -> list[FieldError]:
    """Check a persistent volume."""
    spec = volume["spec"]
    errors = access_modes(_SPEC.child("accessModes"), spec.get("accessModes"))
    errors += _capacity(spec.get("capacity") or {})
    policy = spec.get("persistentVolumeReclaimPolicy") or ""
    if policy and policy not in RECLAIM_POLICIES:
        errors.append(not_supported(_SPEC.child("persistentVolumeReclaimPolicy"), policy, RECLAIM_POLICIES))
    errors += _node_affinity(spec)
    errors += _source(spec)
    if (spec.get("hostPath") or {}).get("path") == "/" and policy == "Recycle":
        text = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden(_SPEC.child("persistentVolumeReclaimPolicy"), text))
    if spec.get("storageClassName"):
        errors += by_rule(_SPEC.child("storageClassName"), spec["storageClassName"], names.dns1123_subdomain)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(_SPEC.child("volumeMode"), mode, VOLUME_MODES))
    return errors + _attributes_class(spec)


def _capacity(capacity: Object) -> list[FieldError]:
    path = _SPEC.child("capacity")
    if not capacity:
        return [required(path)]
    errors: list[FieldError] = []
    if set(capacity) != {"storage"}:
        errors.append(not_supported(path, capacity, ("storage",)))
    for name, text in sorted(capacity.items()):
        errors += amount(path.key(name), name, text)
        if parse(text).sign <= 0:
            errors.append(invalid(path.key(name), str(parse(text)), "must be greater than zero"))
    return errors


def _node_affinity(spec: Object) -> list[FieldError]:
    affinity = spec.get("nodeAffinity")
    path = _SPEC.child("nodeAffinity")
    if affinity is None:
        return [required(path, "Local volume requires node affinity")] if spec.get("local") is not None else []
    if affinity.get("required") is None:
        return [required(path.child("required"), "must specify required node constraints")]
    return node_selector(path.child("required"), affinity["required"])


def _source(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    found = [member for member in SOURCES if spec.get(member) is not None]
    for index, member in enumerate(found):
        at = _SPEC.child(member)
        if index:
            errors.append(forbidden(at, "may not specify more than 1 volume type"))
        else:
            errors += _one_source(at, member, spec[member])
    if not found:
        errors.append(required(_SPEC, "must specify a volume type"))
    return errors


def _one_source(path: Path, member: str, source: Object) -> list[FieldError]:
    if member == "hostPath":
        return host_path(path, source)
    if member == "nfs":
        return nfs(path, source)
    if member == "local":
        value = source.get("path") or ""
        return no_backsteps(path.child("path"), value) if value else [required(path.child("path"))]
    if member == "csi":
        return _csi(path, source)
    return [required(path.child(needed)) for needed in _NEEDED.get(member, ()) if not source.get(needed)]


def _csi(path: Path, source: Object) -> list[FieldError]:
    errors = csi_driver_name(path.child("driver"), source.get("driver"))
    if not source.get("volumeHandle"):
        errors.append(required(path.child("volumeHandle")))
    for member, secret in source.items():
        if member.endswith("SecretRef") and secret is not None:
            errors += [required(path.child(member, part)) for part in ("name", "namespace") if not secret.get(part)]
    return errors


def _attributes_class(spec: Object) -> list[FieldError]:
    value, path = spec.get("volumeAttributesClassName"), _SPEC.child("volumeAttributesClassName")
    if value is None:
        return []
    if not value:
        return [required(path, "an empty string is disallowed")]
    errors = by_rule(path, value, names.dns1123_subdomain)
    if spec.get("csi") is None:
        text = "has to be specified when using volumeAttributesClassName"
        errors.append(required(_SPEC.child("csi"), text))
    return errors


def validate_persistent_volume_update(volume: Object, old: Object) -> list[FieldError]:
    """Check an update of a persistent volume: it stays the same piece of storage."""
    spec, before = volume["spec"], old.get("spec") or {}
    errors = validate_persistent_volume(volume)
    now, then = _sources_of(spec), _sources_of(before)
    if then.get("csi") and now.get("csi") and not then["csi"].get("controllerExpandSecretRef"):
        now = {**now, "csi": {key: item for key, item in now["csi"].items() if key != "controllerExpandSecretRef"}}
    if now != then:
        diff = spec_diff("hyperkube_api.core.v1:PersistentVolumeSource", then, now)
        text = f"spec.persistentvolumesource is immutable after creation\n{diff}"
        errors.append(forbidden(_SPEC.child("persistentvolumesource"), text))
    errors += unchanged(ROOT.child("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    if before.get("nodeAffinity") is not None:
        errors += unchanged(_SPEC.child("nodeAffinity"), spec.get("nodeAffinity"), before["nodeAffinity"])
    return errors


def _sources_of(spec: Object) -> Object:
    return {member: spec[member] for member in SOURCES if spec.get(member) is not None}
