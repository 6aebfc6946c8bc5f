"""The kinds that have left the tree: which driver took each over, and what its volumes are called there.

Source: csi-translation-lib, a file of ``plugins`` for each (aws_ebs.go, gce_pd.go, azure_disk.go …).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from hyperkube_lib.csi_translation.topology import BETWEEN_ZONES, ZONES

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, labels_of, metadata

UNSPECIFIED = "UNSPECIFIED"
RESOURCE_GROUP = "kubernetes.io/azure-file-resource-group"
_ACCOUNT = re.compile(r"azure-storage-account-(.+)-secret")
_MANAGED = re.compile(r".*/subscriptions/(?:.*)/resourceGroups/(?:.*)/providers/Microsoft.Compute/disks/(.+)")
_UNMANAGED = re.compile(r"http(?:.*)://(?:.*)/vhds/(.+)")
_RWO, _ROX, _RWX = "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"
_GCE_PARTS = 6


class TranslationFailed(VolumeFailed):
    """A volume cannot be said in the words of the other side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InTreeKind:
    """A kind that was in the tree.

    Attributes:
        plugin: its name, also that of its provisioner.
        driver: the CSI driver that took over.
        source: the member of a volume that describes one of its.
        to_csi: from that member, and the object that has it, to ``csi`` without driver, read-only and type of file
            system; a pod's volume comes with metadata that have the pod's namespace alone.
        to_in_tree: from ``csi`` to that member, without read-only and type of file system.
        unique: the part of the member that is unique for each volume.
        topology: the label by which the driver tells the zones of its volumes apart; empty if it does not.
        class_topology: that of its classes, where it differs.
        region_topology: the label by which the driver tells regions apart, where it has one beside that for zones.
        region_of: from zones to their region; None where zones do not tell.
        modes: of a volume that is part of a pod: read-only or not → its access mode.
        fs_type: whether the type of the file system is a field of the member.
    """

    plugin: str
    driver: str
    source: str
    to_csi: Callable[[Object, Object], Object]
    to_in_tree: Callable[[Object], Object]
    unique: str = "volumeID"
    topology: str = ""
    class_topology: str = ""
    region_topology: str = ""
    region_of: Callable[[Sequence[str]], str] | None = None
    modes: tuple[str, str] = (_RWO, _RWO)
    fs_type: bool = True


def kind_of_volume(volume: Object) -> InTreeKind | None:
    """Return what took over an inline volume, or the spec of a PersistentVolume; None for all others."""
    return next((each for each in IN_TREE if volume.get(each.source) is not None), None)


def kind_of_provisioner(name: str) -> InTreeKind | None:
    """Return the kind of a provisioner; None for one that was never in the tree."""
    return next((each for each in IN_TREE if each.plugin == name), None)


def kind_of_driver(name: str) -> InTreeKind | None:
    """Return the kind that a driver took over; None for one that took over none."""
    return next((each for each in IN_TREE if each.driver == name), None)


def _region(zones: Sequence[str], region_of: Callable[[str], str]) -> str:
    regions = {region_of(zone) for zone in zones}
    if len(regions) != 1:
        raise TranslationFailed(f"multiple or no regions gotten from zones, got: {sorted(regions)}")
    return regions.pop()


# Amazon


def _ebs_region(zone: str) -> str:
    """Return the region of a zone: us-west-2a, us-gov-east-1a, us-west-2-lax-1a or us-east-1-wl1-bos-wlz-1."""
    parts = zone.split("-")
    if len(parts) in {3, 4} and len(parts[-1]) == 2:
        return "-".join([*parts[:-1], parts[-1][:1]])
    if len(parts) in {5, 7}:
        return "-".join(parts[:3])
    raise TranslationFailed(f"Unexpected zone format: {zone} is not a valid AWS zone")


def _to_ebs(source: Object, _owner: Object) -> Object:
    name = handle = str(source.get("volumeID", ""))
    if name.startswith("aws://"):
        handle = name.removeprefix("aws://").partition("/")[2].strip("/")
        if not handle.startswith("vol-") or "/" in handle:
            raise TranslationFailed(
                f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({name})"
            )
    partition = str(int(source.get("partition") or 0))
    return {"volumeHandle": handle, "volumeAttributes": {"partition": partition}}


def _partition(csi: Object) -> Object:
    text = (csi.get("volumeAttributes") or {}).get("partition") or ""
    if not text:
        return {}
    if not text.isdecimal():
        raise TranslationFailed(f"failed to convert partition {text} to integer")
    return {"partition": int(text)} if int(text) else {}


# Google


def gce_region(zone: str) -> str:
    """Return the region of a zone, which is ``LOCALE-REGION-ZONE``."""
    parts = zone.split("-")
    if len(parts) != 3:
        raise TranslationFailed(f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}")
    return "-".join(parts[:2])


def _to_gce(source: Object, owner: Object) -> Object:
    labels = labels_of(owner)
    zones = next((labels[key] for key in ZONES if labels.get(key)), UNSPECIFIED).split(BETWEEN_ZONES)
    place = f"zones/{zones[0]}" if len(zones) == 1 else f"regions/{_region(zones, gce_region)}"
    partition = int(source.get("partition") or 0)
    return {
        "volumeHandle": f"projects/{UNSPECIFIED}/{place}/disks/{source['pdName']}",
        "volumeAttributes": {"partition": str(partition) if partition else ""},
    }


def _from_gce(csi: Object) -> Object:
    parts = str(csi["volumeHandle"]).split("/")
    if len(parts) < _GCE_PARTS:
        raise TranslationFailed(
            f"failed to get id components. Got: {len(parts)}, wanted {_GCE_PARTS} components or more."
        )
    return {"pdName": parts[_GCE_PARTS - 1], **_partition(csi)}


# Azure


def _to_azure_disk(source: Object, _owner: Object) -> Object:
    attributes = {"kind": source.get("kind") or "Managed", "csi-migration": "true"}
    if source.get("cachingMode"):
        attributes["cachingMode"] = source["cachingMode"]
    if source.get("fsType") is not None:
        attributes["fsType"] = source["fsType"]
    return {"volumeHandle": source.get("diskURI", ""), "volumeAttributes": attributes}


def _from_azure_disk(csi: Object) -> Object:
    uri, attributes = str(csi["volumeHandle"]), csi.get("volumeAttributes") or {}
    pattern = _UNMANAGED if uri[:4].lower() == "http" else _MANAGED
    found = pattern.match(uri)
    if found is None:
        raise TranslationFailed(f"could not get disk name from {uri}, correct format: {pattern.pattern}")
    disk = {"diskName": found.group(1), "diskURI": uri, "kind": attributes.get("kind") or "Managed"}
    kept = {key: attributes[key] for key in ("cachingMode", "fsType") if attributes.get(key)}
    return disk | kept


def _to_azure_file(source: Object, owner: Object) -> Object:
    secret, share = source.get("secretName", ""), source.get("shareName", "")
    match = _ACCOUNT.search(secret)
    group = annotations_of(owner).get(RESOURCE_GROUP, "")
    namespace = source.get("secretNamespace") or metadata(owner).get("namespace") or "default"
    return {
        "volumeHandle": f"{group}#{match.group(1) if match else secret}#{share}#",
        "volumeAttributes": {"sharename": share},
        "nodeStageSecretRef": {"name": secret, "namespace": namespace},
    }


def _azure_share(csi: Object) -> tuple[Object, Object, str, str]:
    """Return a share's attributes, the reference to its Secret, and the names of both as far as those tell."""
    attributes = {key.lower(): value for key, value in (csi.get("volumeAttributes") or {}).items()}
    reference = csi.get("nodeStageSecretRef") or {}
    secret = reference.get("name") or attributes.get("secretname", "")
    return attributes, reference, attributes.get("sharename", ""), secret


def azure_file_marks(csi: Object) -> dict[str, str]:
    """Return the annotations of a share's volume in the tree: its resource group, where the handle has to be read."""
    _, _, share, secret = _azure_share(csi)
    group = "" if share and secret else str(csi["volumeHandle"]).partition("#")[0]
    return {RESOURCE_GROUP: group} if group else {}


def _from_azure_file(csi: Object) -> Object:
    attributes, reference, share, secret = _azure_share(csi)
    if not share or not secret:
        parts = str(csi["volumeHandle"]).split("#")
        if len(parts) < 3:
            raise TranslationFailed(f'error parsing volume id: "{csi["volumeHandle"]}", should at least contain two #')
        share, secret = share or parts[2], secret or f"azure-storage-account-{parts[1]}-secret"
    namespace = reference.get("namespace") or attributes.get("secretnamespace") or "default"
    return {"shareName": share, "secretName": secret, "secretNamespace": namespace}


# others


def _by_id(source: Object, _owner: Object) -> Object:
    return {"volumeHandle": source.get("volumeID", ""), "volumeAttributes": {}}


def _to_vsphere(source: Object, _owner: Object) -> Object:
    policy = source.get("storagePolicyName")
    attributes: Mapping[str, str] = {"storagepolicyname": policy} if policy else {}
    return {"volumeHandle": source.get("volumePath", ""), "volumeAttributes": dict(attributes)}


IN_TREE: tuple[InTreeKind, ...] = (
    InTreeKind(
        plugin="kubernetes.io/aws-ebs", driver="ebs.csi.aws.com", source="awsElasticBlockStore",
        to_csi=_to_ebs, to_in_tree=lambda csi: {"volumeID": csi["volumeHandle"], **_partition(csi)},
        topology="topology.ebs.csi.aws.com/zone", region_of=lambda zones: _region(zones, _ebs_region),
    ),
    InTreeKind(
        plugin="kubernetes.io/gce-pd", driver="pd.csi.storage.gke.io", source="gcePersistentDisk", unique="pdName",
        to_csi=_to_gce, to_in_tree=_from_gce, modes=(_RWO, _ROX),
        topology="topology.gke.io/zone", region_of=lambda zones: _region(zones, gce_region),
    ),
    InTreeKind(
        plugin="kubernetes.io/azure-disk", driver="disk.csi.azure.com", source="azureDisk", unique="diskName",
        to_csi=_to_azure_disk, to_in_tree=_from_azure_disk, class_topology="topology.disk.csi.azure.com/zone",
    ),
    InTreeKind(
        plugin="kubernetes.io/azure-file", driver="file.csi.azure.com", source="azureFile", unique="shareName",
        to_csi=_to_azure_file, to_in_tree=_from_azure_file, modes=(_RWX, _RWX), fs_type=False,
    ),
    InTreeKind(
        plugin="kubernetes.io/cinder", driver="cinder.csi.openstack.org", source="cinder",
        to_csi=_by_id, to_in_tree=lambda csi: {"volumeID": csi["volumeHandle"]},
        topology="topology.cinder.csi.openstack.org/zone",
    ),
    InTreeKind(
        plugin="kubernetes.io/vsphere-volume", driver="csi.vsphere.vmware.com", source="vsphereVolume",
        unique="volumePath", to_csi=_to_vsphere,
        to_in_tree=lambda csi: {"volumePath": (csi.get("volumeAttributes") or {}).get("initialvolumefilepath", "")},
        topology="topology.csi.vmware.com/zone", region_topology="topology.csi.vmware.com/region",
    ),
    InTreeKind(
        plugin="kubernetes.io/portworx-volume", driver="pxd.portworx.com", source="portworxVolume",
        to_csi=_by_id, to_in_tree=lambda csi: {"volumeID": csi["volumeHandle"]}, modes=(_RWO, _ROX),
    ),
)  # fmt: skip
"""The kinds by their drivers; rbd and others that were taken out of Kubernetes for good have none."""
