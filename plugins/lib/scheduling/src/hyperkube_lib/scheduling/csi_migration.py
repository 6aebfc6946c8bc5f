"""Disks of the clouds whose drivers have left the tree: a CSI driver attaches them, and its limit counts them.

Source: kubernetes ``staging/src/k8s.io/csi-translation-lib/plugins/`` (names and handles) and
``pkg/scheduler/framework/plugins/nodevolumelimits/utils.go`` (isCSIMigrationOn).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of, labels_of

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation by which a CSINode lists the plugins that moved to a driver there."""
ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
UNSPECIFIED = "UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class Migrated:
    """A plugin that was in the tree, the driver that took over, and how the driver calls a disk of its.

    Attributes:
        plugin: the provisioner's name in the tree.
        driver: the CSI driver.
        source: the member of a volume that describes such a disk.
        handle: what the driver calls the disk, from that member and the labels of its PersistentVolume; may be empty.
        topology: the label by which the driver tells zones apart; empty if it does not.
        always: whether it moved everywhere, or only where the CSINode's annotation says so.
    """

    plugin: str
    driver: str
    source: str
    handle: Callable[[Object, Mapping[str, str]], str]
    topology: str = ""
    always: bool = True

    def is_on(self, csi_node: Object | None) -> bool:
        """Tell whether the driver serves these disks on a node."""
        return csi_node is not None and (self.always or self.is_listed(csi_node))

    def is_listed(self, csi_node: Object | None) -> bool:
        """Tell whether a CSINode's annotation says that the driver serves these disks there."""
        return self.plugin in annotations_of(csi_node or {}).get(MIGRATED_PLUGINS, "").split(",")


def of_volume(volume: Object) -> Migrated | None:
    """Return what took over an inline volume, or the spec of a PersistentVolume; None for all others."""
    return next((each for each in MIGRATED if volume.get(each.source) is not None), None)


def of_provisioner(name: str) -> Migrated | None:
    """Return what took over a provisioner; None for one that was never in the tree."""
    return next((each for each in MIGRATED if each.plugin == name), None)


def handle_of(volume: Object, persistent: Object | None = None) -> str:
    """Return the driver's name for an inline volume, or for the spec of a `persistent` one; empty if it has none."""
    found = of_volume(volume)
    return found.handle(volume[found.source], labels_of(persistent or {})) if found is not None else ""


def moved_terms(volume: Object) -> list[Object]:
    """Return the node selector terms of a PersistentVolume as its driver has them: with the driver's label for zones.

    Where the terms name no zone, the volume's zone label makes one.
    """
    required = (volume["spec"].get("nodeAffinity") or {}).get("required") or {}
    terms = required.get("nodeSelectorTerms") or []
    found = of_volume(volume["spec"])
    if found is None or not found.topology:
        return list(terms)
    named = {row["key"] for term in terms for row in term.get("matchExpressions") or ()}
    labels = labels_of(volume)
    key = next((key for known in (named, labels) for key in reversed(ZONES) if key in known), ZONES[-1])
    if key in named:
        rows = [[_renamed(row, key, found.topology) for row in term.get("matchExpressions") or ()] for term in terms]
        return [{**term, "matchExpressions": row} for term, row in zip(terms, rows, strict=True)]
    if key not in labels:
        return list(terms)
    zone = {"key": found.topology, "operator": "In", "values": labels[key].split("__")}
    return [{**term, "matchExpressions": [*(term.get("matchExpressions") or ()), zone]} for term in terms or [{}]]


def _renamed(row: Object, old: str, new: str) -> Object:
    return {**row, "key": new} if row["key"] == old else row


def _ebs(source: Object, _labels: Mapping[str, str]) -> str:
    name = str(source.get("volumeID", ""))
    if not name.startswith("aws://"):
        return name
    last = name.removeprefix("aws://").partition("/")[2].strip("/")
    return last if last.startswith("vol-") and "/" not in last else ""


def _gce(source: Object, labels: Mapping[str, str]) -> str:
    zones = next((labels[key] for key in ZONES if labels.get(key)), UNSPECIFIED).split("__")
    if len(zones) == 1:
        return f"projects/{UNSPECIFIED}/zones/{zones[0]}/disks/{source['pdName']}"
    regions = {zone.rpartition("-")[0] for zone in zones}
    return f"projects/{UNSPECIFIED}/regions/{regions.pop()}/disks/{source['pdName']}" if len(regions) == 1 else ""


MIGRATED = (
    Migrated("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "awsElasticBlockStore", _ebs, "topology.ebs.csi.aws.com/zone"),
    Migrated("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "gcePersistentDisk", _gce, "topology.gke.io/zone"),
    Migrated(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        "azureDisk",
        lambda row, _: str(row.get("diskURI", "")),
        "topology.disk.csi.azure.com/zone",
    ),
    Migrated(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        lambda row, _: str(row.get("volumeID", "")),
        "topology.cinder.csi.openstack.org/zone",
    ),
    Migrated(
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
        "portworxVolume",
        lambda row, _: str(row.get("volumeID", "")),
        always=False,
    ),
)
