"""Volumes of pods: one source each, and what that source needs.

Source: kubernetes pkg/apis/core/validation (ValidateVolumes and around).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube_api.meta.validation import by_rule, label_selector, named

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

HOST_PATH_TYPES = (
    "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket",
)  # fmt: skip
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
MODE_TEXT = "must be a number between 0 and 0777 (octal), both inclusive"
ONE_SOURCE = "may not specify more than 1 volume type"
DOWNWARD_FIELDS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
)  # fmt: skip
KEY_TYPES = ("ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096")
CSI_DRIVER_MAX = 63


def validate_volumes(path: Path, volumes: Sequence[Object] | None, pod_name: str = "") -> list[FieldError]:
    """Check the volumes of a pod."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, volume in enumerate(volumes or ()):
        at, name = path.index(index), volume.get("name") or ""
        of_source = validate_sources(at, volume, pod_name)
        errors += of_source
        name_errors = named(at.child("name"), name, names.dns1123_label)
        if not name_errors and name in seen:
            name_errors = [duplicate(at.child("name"), name)]
        errors += name_errors
        if not of_source:
            seen.add(name)
    return errors


def validate_sources(at: Path, volume: Object, pod_name: str = "") -> list[FieldError]:
    """Check that a volume has one source, and that source."""
    errors: list[FieldError] = []
    found = 0
    for member, check in _CHECKS.items():
        source = volume.get(member)
        if source is None:
            continue
        if found:
            errors.append(forbidden(at.child(member), ONE_SOURCE))
        else:
            errors += check(at.child(member), source)
        found += 1
    if not found:
        errors.append(required(at, "must specify a volume type"))
    ephemeral = volume.get("ephemeral")
    if ephemeral is not None and pod_name:
        claim = f"{pod_name}-{volume.get('name') or ''}"
        for text in names.dns1123_subdomain(claim):
            errors.append(invalid(at.child("name"), volume.get("name") or "", f'PVC name "{claim}": {text}'))
    return errors


def relative_path(path: Path, value: str) -> list[FieldError]:
    """Check a path that must stay below where it starts."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + no_backsteps(path, value)


def no_backsteps(path: Path, value: str) -> list[FieldError]:
    """Check that no part of a path is ``..``."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def _local_path(path: Path, value: str) -> list[FieldError]:
    errors = relative_path(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors


def _mode(path: Path, mode: int | None) -> list[FieldError]:
    return [invalid(path, mode, MODE_TEXT)] if mode is not None and not 0 <= mode <= 0o777 else []


def _needs(*members: str) -> Callable[[Path, Object], list[FieldError]]:
    """Return a check that some members of a source are set."""

    def check(path: Path, source: Object) -> list[FieldError]:
        return [required(path.child(member)) for member in members if not source.get(member)]

    return check


def _nothing(_path: Path, _source: Object) -> list[FieldError]:
    return []


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


def _secret(path: Path, source: Object) -> list[FieldError]:
    errors = [] if source.get("secretName") else [required(path.child("secretName"))]
    return errors + _files(path, source)


def _config_map(path: Path, source: Object) -> list[FieldError]:
    errors = [] if source.get("name") else [required(path.child("name"))]
    return errors + _files(path, source)


def _files(path: Path, source: Object) -> list[FieldError]:
    """Check the default mode and the items that choose keys."""
    errors = _mode(path.child("defaultMode"), source.get("defaultMode"))
    for index, item in enumerate(source.get("items") or ()):
        at = path.child("items").index(index)
        if not item.get("key"):
            errors.append(required(at.child("key")))
        errors += _file_path(at.child("path"), item)
        errors += _mode(at.child("mode"), item.get("mode"))
    return errors


def _file_path(path: Path, item: Object) -> list[FieldError]:
    value = item.get("path") or ""
    return _local_path(path, value) if value else [required(path)]


def _downward(path: Path, source: Object) -> list[FieldError]:
    errors = _mode(path.child("defaultMode"), source.get("defaultMode"))
    for item in source.get("items") or ():
        errors += _downward_item(path, item)
    return errors


def _downward_item(path: Path, item: Object) -> list[FieldError]:
    from hyperkube_api.core.validation.environment import field_reference, resource_reference

    errors = _file_path(path.child("path"), item)
    reference, amounts = item.get("fieldRef"), item.get("resourceFieldRef")
    if reference is not None:
        errors += field_reference(path.child("fieldRef"), reference, DOWNWARD_FIELDS)
        if amounts is not None:
            errors.append(
                invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
            )
    elif amounts is not None:
        errors += resource_reference(path.child("resourceFieldRef"), amounts, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + _mode(path.child("mode"), item.get("mode"))


def _projected(path: Path, source: Object) -> list[FieldError]:
    errors = _mode(path.child("defaultMode"), source.get("defaultMode"))
    seen: set[str] = set()
    for index, part in enumerate(source.get("sources") or ()):
        at = path.child("sources").index(index)
        found = 0
        for member, check in _PROJECTIONS.items():
            projection = part.get(member)
            if projection is None:
                continue
            if found:
                errors.append(forbidden(at.child(member), ONE_SOURCE))
            else:
                errors += check(at.child(member), projection)
                errors += _path_clashes(at.child(member), projection, seen)
            found += 1
    return errors


def _path_clashes(at: Path, projection: Object, seen: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    paths = [item.get("path") for item in projection.get("items") or ()] or [projection.get("path")]
    for value in filter(None, paths):
        if value in seen:
            name = projection.get("name") or ""
            errors.append(invalid(at, name, f'conflicting duplicate paths: "{value}"'))
        seen.add(value)
    return errors


def _token(path: Path, source: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seconds = source.get("expirationSeconds")
    if seconds is not None:
        at = path.child("expirationSeconds")
        if seconds < 600:
            errors.append(invalid(at, seconds, "may not specify a duration less than 10 minutes"))
        if seconds > 2**32:
            errors.append(invalid(at, seconds, "may not specify a duration larger than 2^32 seconds"))
    return errors + _file_path(path.child("path"), source)


def _trust_bundle(path: Path, source: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        errors.append(invalid(path, None, "only one of name and signerName may be used"))
    elif name is not None:
        errors += by_rule(path.child("name"), name, names.dns1123_subdomain)
        if source.get("labelSelector") is not None:
            errors.append(
                invalid(path.child("labelSelector"), None, "labelSelector must be unset if name is specified")
            )
    elif signer is not None:
        errors += label_selector(path.child("labelSelector"), source.get("labelSelector"))
    else:
        errors.append(required(path, "either name or signerName must be specified"))
    return errors + _file_path(path.child("path"), source)


def _pod_certificate(path: Path, source: Object) -> list[FieldError]:
    errors = [] if source.get("signerName") else [required(path.child("signerName"))]
    if source.get("keyType") not in KEY_TYPES:
        errors.append(not_supported(path.child("keyType"), source.get("keyType") or "", KEY_TYPES))
    members = ("credentialBundlePath", "keyPath", "certificateChainPath")
    if not any(source.get(member) for member in members):
        errors.append(required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))
    for member in members:
        if source.get(member):
            errors += _local_path(path.child(member), source[member])
    return errors


def _ephemeral(path: Path, source: Object) -> list[FieldError]:
    from hyperkube_api.core.validation.claims import validate_claim_template

    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(path.child("volumeClaimTemplate"))]
    return validate_claim_template(path.child("volumeClaimTemplate"), template)


def _image(path: Path, source: Object) -> list[FieldError]:
    policy = source.get("pullPolicy")
    errors = [] if source.get("reference") else [required(path.child("reference"))]
    if policy and policy not in PULL_POLICIES:
        errors.append(not_supported(path.child("pullPolicy"), policy, PULL_POLICIES))
    return errors


def csi_driver_name(path: Path, name: str | None) -> list[FieldError]:
    """Check the name of a CSI driver."""
    if not name:
        return [required(path)]
    errors = [too_long(path, CSI_DRIVER_MAX)] if len(name) > CSI_DRIVER_MAX else []
    return errors + by_rule(path, name.lower(), names.dns1123_subdomain)


def _csi(path: Path, source: Object) -> list[FieldError]:
    errors = csi_driver_name(path.child("driver"), source.get("driver"))
    secret = source.get("nodePublishSecretRef")
    if secret is not None and not secret.get("name"):
        errors.append(required(path.child("nodePublishSecretRef", "name")))
    return errors


def nfs(path: Path, source: Object) -> list[FieldError]:
    """Check an NFS export."""
    errors = [] if source.get("server") else [required(path.child("server"))]
    value = source.get("path") or ""
    if not value:
        errors.append(required(path.child("path")))
    elif not value.startswith("/"):
        errors.append(invalid(path.child("path"), value, "must be an absolute path"))
    return errors


def _partition(member: str) -> Callable[[Path, Object], list[FieldError]]:
    def check(path: Path, source: Object) -> list[FieldError]:
        errors = [] if source.get(member) else [required(path.child(member))]
        partition = source.get("partition") or 0
        if not 0 <= partition <= 255:
            errors.append(invalid(path.child("partition"), partition, names.range_error(0, 255)))
        return errors

    return check


def _iscsi(path: Path, source: Object) -> list[FieldError]:
    errors = _needs("targetPortal")(path, source)
    qualified = source.get("iqn") or ""
    if not qualified:
        errors.append(required(path.child("iqn")))
    elif not qualified.startswith(("iqn.", "eui.", "naa.")):
        errors.append(invalid(path.child("iqn"), qualified, "must be valid format starting with iqn, eui, or naa"))
    lun = source.get("lun") or 0
    if not 0 <= lun <= 255:
        errors.append(invalid(path.child("lun"), lun, names.range_error(0, 255)))
    for member, name in (("chapAuthDiscovery", "chapAuthDiscovery"), ("chapAuthSession", "chapAuthSession")):
        if source.get(member) and source.get("secretRef") is None:
            errors.append(required(path.child("secretRef"), f"must be set when {name} is true"))
    return errors


def _fc(path: Path, source: Object) -> list[FieldError]:
    targets, ids = source.get("targetWWNs"), source.get("wwids")
    if not targets and not ids:
        text = "must specify either targetWWNs or wwids, but not both"
        return [required(path.child("targetWWNs"), text)]
    if targets and ids:
        return [invalid(path.child("targetWWNs"), targets, "targetWWNs and wwids can not be specified simultaneously")]
    if targets and source.get("lun") is None:
        return [required(path.child("lun"), "lun is required if targetWWNs is specified")]
    lun = source.get("lun") or 0
    if targets and not 0 <= lun <= 255:
        return [invalid(path.child("lun"), lun, names.range_error(0, 255))]
    return []


def _git_repo(path: Path, source: Object) -> list[FieldError]:
    errors = _needs("repository")(path, source)
    if source.get("directory"):
        errors += _local_path(path.child("directory"), source["directory"])
    return errors


_CHECKS: dict[str, Callable[[Path, Object], list[FieldError]]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _partition("pdName"),
    "awsElasticBlockStore": _partition("volumeID"),
    "secret": _secret,
    "nfs": nfs,
    "iscsi": _iscsi,
    "glusterfs": _needs("endpoints", "path"),
    "flocker": _nothing,
    "persistentVolumeClaim": _needs("claimName"),
    "rbd": _needs("monitors", "image"),
    "cinder": _needs("volumeID"),
    "cephfs": _needs("monitors"),
    "quobyte": _needs("registry", "volume"),
    "downwardAPI": _downward,
    "fc": _fc,
    "flexVolume": _needs("driver"),
    "configMap": _config_map,
    "azureFile": _needs("secretName", "shareName"),
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": _needs("diskName", "diskURI"),
    "storageos": _nothing,
    "projected": _projected,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
    "local": _nothing,
}
_PROJECTIONS: dict[str, Callable[[Path, Object], list[FieldError]]] = {
    "secret": lambda path, source: (
        ([] if source.get("name") else [required(path.child("name"))]) + _files(path, source)
    ),
    "configMap": _config_map,
    "downwardAPI": _downward,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _pod_certificate,
}
