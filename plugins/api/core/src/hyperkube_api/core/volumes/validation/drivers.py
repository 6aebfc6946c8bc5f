"""Volumes of the in-tree plug-ins: each names what it mounts in its own words.

The same sources stand in pods and in persistent volumes; where the rules differ, the function for the latter has
``persistent`` in its name. Source: kubernetes pkg/apis/core/validation (validate…VolumeSource).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from hyperkube_api.core.paths import relative_path
from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

Check = Callable[[Path, Object], list[FieldError]]
PARTITION_TEXT = names.range_error(1, 255)
ISCSI_NAME_MAX = 64
ISCSI_TOO_LONG = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)
TENANT_MAX = 64
HOST_PORT = "must be a host:port pair or multiple pairs separated by commas"
CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
DISK_KINDS = ("Dedicated", "Managed", "Shared")
_BAD_FORM = "must be valid format"
_BAD_START = "must be valid format starting with iqn, eui, or naa"
_ISCSI_FORMS = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+\Z", re.ASCII),
    "eui": re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z"),
}
_PAIR = re.compile(r"(?:\[[^\[\]]*\]|[^\[\]:]*):[^\[\]:]*")


def needs(*members: str) -> Check:
    """Return a check that some members of a source are set."""

    def check(path: Path, source: Object) -> list[FieldError]:
        return [required(path.child(member)) for member in members if not source.get(member)]

    return check


def partition(member: str) -> Check:
    """Return the check of a disk by its name, of which a partition may be mounted."""

    def check(path: Path, source: Object) -> list[FieldError]:
        errors = [] if source.get(member) else [required(path.child(member))]
        number = source.get("partition") or 0
        if not 0 <= number <= 255:
            errors.append(invalid(path.child("partition"), number, PARTITION_TEXT))
        return errors

    return check


def git_repo(path: Path, source: Object) -> list[FieldError]:
    """Check a git repository to clone."""
    errors = needs("repository")(path, source)
    return errors + relative_path(path.child("directory"), source.get("directory") or "")


def nfs(path: Path, source: Object) -> list[FieldError]:
    """Check an NFS export."""
    errors = needs("server", "path")(path, source)
    value = source.get("path") or ""
    if not value.startswith("/"):
        errors.append(invalid(path.child("path"), value, "must be an absolute path"))
    return errors


def iscsi(path: Path, source: Object) -> list[FieldError]:
    """Check an iSCSI disk of a pod."""
    errors = needs("targetPortal")(path, source) + _iscsi_name(path.child("iqn"), source.get("iqn"), _BAD_START)
    errors += _lun(path, source.get("lun") or 0) + _chap(path, source)
    initiator = source.get("initiatorName")
    return errors if initiator is None else errors + _initiator(path, initiator, _BAD_START)


def persistent_iscsi(path: Path, source: Object, name: str) -> list[FieldError]:
    """Check an iSCSI disk as a persistent volume of that name."""
    errors = needs("targetPortal")(path, source)
    portal, initiator, secret = source.get("targetPortal") or "", source.get("initiatorName"), source.get("secretRef")
    if initiator is not None and len(f"{name}:{portal}") > ISCSI_NAME_MAX:
        errors.append(invalid(path.child("targetportal"), portal, ISCSI_TOO_LONG))
    errors += _iscsi_name(path.child("iqn"), source.get("iqn"), _BAD_FORM)
    errors += _lun(path, source.get("lun") or 0) + _chap(path, source)
    if secret is not None and not secret.get("name"):
        errors.append(required(path.child("secretRef", "name")))
    return errors if initiator is None else errors + _initiator(path, initiator, _BAD_FORM)


def _iscsi_name(path: Path, name: str | None, bad_start: str) -> list[FieldError]:
    return _iscsi_form(path, name, bad_start) if name else [required(path)]


def _initiator(path: Path, name: str, bad_start: str) -> list[FieldError]:
    return _iscsi_form(path.child("initiatorname"), name, bad_start)


def _iscsi_form(path: Path, name: str, bad_start: str) -> list[FieldError]:
    form = _ISCSI_FORMS.get(name[:3])
    if form is None:
        return [invalid(path, name, bad_start)]
    return [] if form.search(name) else [invalid(path, name, _BAD_FORM)]


def _lun(path: Path, lun: int) -> list[FieldError]:
    return [] if 0 <= lun <= 255 else [invalid(path.child("lun"), lun, names.range_error(0, 255))]


def _chap(path: Path, source: Object) -> list[FieldError]:
    needed = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    return [required(path.child("secretRef"))] if needed and source.get("secretRef") is None else []


def fibre_channel(path: Path, source: Object) -> list[FieldError]:
    """Check a disk on a fibre channel."""
    targets, ids, at = source.get("targetWWNs"), source.get("wwids"), path.child("targetWWNs")
    errors: list[FieldError] = []
    if not targets and not ids:
        errors.append(required(at, "must specify either targetWWNs or wwids, but not both"))
    if targets and ids:
        errors.append(invalid(at, targets, "targetWWNs and wwids can not be specified simultaneously"))
    if targets:
        lun = source.get("lun")
        missing = [required(path.child("lun"), "lun is required if targetWWNs is specified")]
        errors += missing if lun is None else _lun(path, lun)
    return errors


def flocker(path: Path, source: Object) -> list[FieldError]:
    """Check a Flocker data set: by name or by id."""
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID") or ""
    errors: list[FieldError] = []
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        text = "datasetName and datasetUUID can not be specified simultaneously"
        errors.append(invalid(path, "resource", text))
    if "/" in name:
        errors.append(invalid(path.child("datasetName"), name, "must not contain '/'"))
    return errors


def quobyte(path: Path, source: Object) -> list[FieldError]:
    """Check a Quobyte volume and where its registry answers."""
    registry, errors = source.get("registry") or "", list[FieldError]()
    if not registry:
        errors.append(required(path.child("registry"), HOST_PORT))
    elif len(source.get("tenant") or "") > TENANT_MAX:
        text = f"must be a UUID and may not exceed a length of {TENANT_MAX} characters"
        errors.append(required(path.child("tenant"), text))
    else:
        wrong = [pair for pair in registry.split(",") if not _PAIR.fullmatch(pair)]
        errors += [invalid(path.child("registry"), registry, HOST_PORT) for _ in wrong]
    return errors + needs("volume")(path, source)


def persistent_glusterfs(path: Path, source: Object) -> list[FieldError]:
    """Check a GlusterFS volume, whose endpoints may be in another namespace."""
    errors, namespace = needs("endpoints", "path")(path, source), source.get("endpointsNamespace")
    at = path.child("endpointsNamespace")
    if namespace == "":
        text = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.append(invalid(at, namespace, text))
    elif namespace is not None:
        errors += by_rule(at, namespace, names.dns1123_label)
    return errors


def cinder(path: Path, source: Object) -> list[FieldError]:
    """Check a Cinder volume of a pod."""
    return needs("volumeID")(path, source) + _secret(path, source, "name")


def persistent_cinder(path: Path, source: Object) -> list[FieldError]:
    """Check a Cinder volume whose secret may be in any namespace."""
    return needs("volumeID")(path, source) + _secret(path, source, "name", "namespace")


def _secret(path: Path, source: Object, *members: str) -> list[FieldError]:
    secret = source.get("secretRef")
    return [] if secret is None else needs(*members)(path.child("secretRef"), secret)


def storage_os(path: Path, source: Object) -> list[FieldError]:
    """Check a StorageOS volume of a pod."""
    return _storage_os_names(path, source) + _secret(path, source, "name")


def persistent_storage_os(path: Path, source: Object) -> list[FieldError]:
    """Check a StorageOS volume whose secret may be in any namespace."""
    return _storage_os_names(path, source) + _secret(path, source, "name", "namespace")


def _storage_os_names(path: Path, source: Object) -> list[FieldError]:
    name, namespace, at = source.get("volumeName"), source.get("volumeNamespace"), path.child("volumeName")
    errors = by_rule(at, name, names.dns1123_label) if name else [required(at)]
    return errors + (by_rule(path.child("volumeNamespace"), namespace, names.dns1123_label) if namespace else [])


def flex_volume(path: Path, source: Object) -> list[FieldError]:
    """Check a volume by a driver script; the options' keys leave Kubernetes' domains alone."""
    text = "kubernetes.io and k8s.io namespaces are reserved"
    return needs("driver")(path, source) + [
        invalid(path.child("options").key(key), key, text)
        for key in sorted(source.get("options") or {})
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io"))
    ]


def persistent_azure_file(path: Path, source: Object) -> list[FieldError]:
    """Check a file share of Azure whose secret may be in any namespace."""
    errors = needs("secretName", "shareName")(path, source)
    return errors + ([required(path.child("secretNamespace"))] if source.get("secretNamespace") == "" else [])


def azure_disk(path: Path, source: Object) -> list[FieldError]:
    """Check a disk of Azure, and that its address fits its kind."""
    errors = needs("diskName", "diskURI")(path, source)
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), source.get("diskURI") or ""
    if caching is not None and caching not in CACHING_MODES:
        errors.append(not_supported(path.child("cachingMode"), caching, CACHING_MODES))
    if kind is not None and kind not in DISK_KINDS:
        errors.append(not_supported(path.child("kind"), kind, DISK_KINDS))
    managed = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
    blob = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.append(not_supported(path.child("diskURI"), uri, (managed,)))
    if kind not in {None, "Managed"} and not uri.startswith("https://"):
        errors.append(not_supported(path.child("diskURI"), uri, (blob,)))
    return errors
