"""What is wrong with a persistent volume.

Source: kubernetes pkg/apis/core/validation (ValidatePersistentVolume and around).
"""

from __future__ import annotations

from posixpath import normpath

from hyperkube_api.core.csi_drivers import csi_driver_name
from hyperkube_api.core.nodes.selectors import node_selector
from hyperkube_api.core.paths import no_backsteps
from hyperkube_api.core.persistent_volume_claims.validation import VOLUME_MODES, access_modes, basic_amount
from hyperkube_api.core.volumes.validation import drivers
from hyperkube_api.core.volumes.validation.drivers import Check, needs
from hyperkube_api.core.volumes.validation.volumes import ONE_SOURCE, host_path
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, named, unchanged

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, copy_object, name_of
from hyperkube.machinery.quantity import parse

RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
STABLE_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""What labels of nodes are called today: the one thing that may change in where a volume is."""
_SPEC = ROOT.child("spec")
_INLINE = "may not be specified in the context of inline volumes"


def validate_persistent_volume(volume: Object) -> list[FieldError]:
    """Check a persistent volume."""
    return persistent_volume_spec(_SPEC, volume["spec"], name_of(volume))


def inline_volume_spec(at: Path, spec: Object) -> list[FieldError]:
    """Check the specification of a volume that stands in an attachment: it has no life of its own."""
    errors = [forbidden(at.child(name), _INLINE) for name in ("claimRef", "capacity") if spec.get(name)]
    if spec.get("csi") is None:
        errors.append(required(at.child("csi"), "has to be specified in the context of inline volumes"))
    return errors + persistent_volume_spec(at, spec, "", inline=True)


def persistent_volume_spec(at: Path, spec: Object, name: str, *, inline: bool = False) -> list[FieldError]:
    """Check the specification of the volume `name`; `inline` is one that stands in an attachment."""
    modes, modes_at = spec.get("accessModes"), at.child("accessModes")
    errors = ([] if modes else [required(modes_at)]) + access_modes(modes_at, modes)
    if not inline:
        errors += _capacity(at.child("capacity"), spec.get("capacity"))
    policy, policy_at = spec.get("persistentVolumeReclaimPolicy") or "", at.child("persistentVolumeReclaimPolicy")
    if policy and inline and policy != "Retain":
        errors.append(forbidden(policy_at, "may only be Retain in the context of inline volumes"))
    elif policy and not inline and policy not in RECLAIM_POLICIES:
        errors.append(not_supported(policy_at, policy, RECLAIM_POLICIES))
    if spec.get("nodeAffinity") is not None:
        affinity_at = at.child("nodeAffinity")
        errors += [forbidden(affinity_at, _INLINE)] if inline else _node_affinity(affinity_at, spec["nodeAffinity"])
    errors += _source(at, spec, name)
    path = (spec.get("hostPath") or {}).get("path") or ""
    if policy == "Recycle" and path.startswith("/") and normpath(path) in {"/", "//"}:
        errors.append(forbidden(policy_at, "may not be 'recycle' for a hostPath mount of '/'"))
    return errors + _class_and_mode(at, spec, inline=inline) + _attributes_class(at, spec)


def _class_and_mode(at: Path, spec: Object, *, inline: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, mode = spec.get("storageClassName"), spec.get("volumeMode")
    if name:
        path = at.child("storageClassName")
        errors += [forbidden(path, _INLINE)] if inline else by_rule(path, name, names.dns1123_subdomain)
    if mode is not None and inline:
        errors.append(forbidden(at.child("volumeMode"), _INLINE))
    elif mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(at.child("volumeMode"), mode, VOLUME_MODES))
    return errors


def _capacity(path: Path, capacity: Object | None) -> list[FieldError]:
    errors = [] if capacity else [required(path)]
    if set(capacity or ()) != {"storage"}:
        errors.append(not_supported(path, capacity, ("storage",)))
    for name, text in sorted((capacity or {}).items()):
        at, size = path.key(name), parse(text)
        errors += basic_amount(at, text)
        if size.sign <= 0:
            errors.append(invalid(at, str(size), "must be greater than zero"))
    return errors


def _node_affinity(path: Path, affinity: Object) -> list[FieldError]:
    at = path.child("required")
    if affinity.get("required") is None:
        return [required(at, "must specify required node constraints")]
    return node_selector(at, affinity["required"])


def _source(path: Path, spec: Object, name: str) -> list[FieldError]:
    """Check that a volume has one source; a driver script is checked even if it is one too many."""
    errors: list[FieldError] = []
    found = [member for member in _CHECKS if spec.get(member) is not None]
    for index, member in enumerate(found):
        if index and member != "flexVolume":
            errors.append(forbidden(path.child("cephFS" if member == "cephfs" else member), ONE_SOURCE))
            continue
        at = path.child("persistentDisk" if member == "gcePersistentDisk" else member)
        if member == "iscsi":
            errors += drivers.persistent_iscsi(at, spec[member], name)
        else:
            errors += _CHECKS[member](at, spec[member])
        if member == "local" and spec.get("nodeAffinity") is None:
            errors.append(required(path.child("nodeAffinity"), "Local volume requires node affinity"))
    return errors if found else [required(path, "must specify a volume type")]


def _local(path: Path, source: Object) -> list[FieldError]:
    value = source.get("path") or ""
    return no_backsteps(path.child("path"), value) if value else [required(path.child("path"))]


def _csi(path: Path, source: Object) -> list[FieldError]:
    errors = csi_driver_name(path.child("driver"), source.get("driver")) + needs("volumeHandle")(path, source)
    for member in _CSI_SECRETS:
        secret = source.get(member)
        if secret is not None:
            at = path.child(member)
            errors += named(at.child("name"), secret.get("name"), names.dns1123_subdomain)
            errors += named(at.child("namespace"), secret.get("namespace"), names.dns1123_label)
    return errors


def _attributes_class(path: Path, spec: Object) -> list[FieldError]:
    value, at = spec.get("volumeAttributesClassName"), path.child("volumeAttributesClassName")
    if value is None:
        return []
    errors = by_rule(at, value, names.dns1123_subdomain) if value else [required(at, "an empty string is disallowed")]
    if spec.get("csi") is None:
        text = "has to be specified when using volumeAttributesClassName"
        errors.append(required(path.child("csi"), text))
    return errors


def validate_persistent_volume_update(volume: Object, old: Object) -> list[FieldError]:
    """Check an update of a persistent volume: it stays the same piece of storage."""
    spec, before = volume["spec"], old.get("spec") or {}
    errors = validate_persistent_volume(volume) * 2  # the registry checks the volume, and its check of changes does
    now, then = _sources_of(spec), _sources_of(before)
    if then.get("csi") and now.get("csi") and not then["csi"].get("controllerExpandSecretRef"):
        now = {**now, "csi": {key: item for key, item in now["csi"].items() if key != "controllerExpandSecretRef"}}
    if now != then:
        diff = spec_diff("hyperkube_api.core.v1:PersistentVolumeSource", then, now)
        text = f"spec.persistentvolumesource is immutable after creation\n{diff}"
        errors.append(forbidden(_SPEC.child("persistentvolumesource"), text))
    errors += unchanged(ROOT.child("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    errors += _stays_where_it_is(spec.get("nodeAffinity"), before.get("nodeAffinity"))
    attributes = _SPEC.child("volumeAttributesClassName")
    if before.get("volumeAttributesClassName") is not None and spec.get("volumeAttributesClassName") is None:
        errors.append(forbidden(attributes, "update from non-nil value to nil is forbidden"))
    return errors


def _stays_where_it_is(affinity: Object | None, before: Object | None) -> list[FieldError]:
    """Check that a volume's nodes stayed, but for the names of their labels."""
    if before is None or affinity in (before, _renamed(before, affinity or {})):
        return []
    shown = None if affinity is None else go_shape("hyperkube_api.core.v1:VolumeNodeAffinity", affinity)
    return [invalid(ROOT.child("nodeAffinity"), shown, f"{IMMUTABLE}, except for updating from beta label to GA")]


def _renamed(before: Object, after: Object) -> Object:
    """Return where a volume was with today's names for the labels, where `after` has them, too."""
    renamed = copy_object(before)
    for expression, now in zip(_expressions(renamed), _expressions(after), strict=False):
        if STABLE_LABELS.get(expression.get("key") or "") == now.get("key"):
            expression["key"] = now["key"]
    return renamed


def _expressions(affinity: Object) -> list[Object]:
    terms = (affinity.get("required") or {}).get("nodeSelectorTerms") or ()
    return [expression for term in terms for expression in term.get("matchExpressions") or ()]


def _sources_of(spec: Object) -> Object:
    return {member: spec[member] for member in _CHECKS if spec.get(member) is not None}


_CSI_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)
_CHECKS: dict[str, Check] = {
    "hostPath": host_path,
    "gcePersistentDisk": drivers.partition("pdName"),
    "awsElasticBlockStore": drivers.partition("volumeID"),
    "glusterfs": drivers.persistent_glusterfs,
    "flocker": drivers.flocker,
    "nfs": drivers.nfs,
    "rbd": needs("monitors", "image"),
    "quobyte": drivers.quobyte,
    "cephfs": needs("monitors"),
    "iscsi": drivers.iscsi,
    "cinder": drivers.persistent_cinder,
    "fc": drivers.fibre_channel,
    "flexVolume": drivers.flex_volume,
    "azureFile": drivers.persistent_azure_file,
    "vsphereVolume": needs("volumePath"),
    "photonPersistentDisk": needs("pdID"),
    "portworxVolume": needs("volumeID"),
    "azureDisk": drivers.azure_disk,
    "scaleIO": needs("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": drivers.persistent_storage_os,
    "csi": _csi,
}
"""The sources in Kubernetes' order."""
