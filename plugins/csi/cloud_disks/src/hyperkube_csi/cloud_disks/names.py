"""What the disks of a cloud, its nodes and its zones are called in CSI: as the vendor's own driver calls them.

Source: csi-translation-lib ``plugins``; kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hyperkube_lib.cloud_provider.nodes import ZONE
from hyperkube_lib.csi_translation import kind_of_provisioner

from hyperkube.hookspecs.cloud import Disk
from hyperkube.machinery.dataclass import dataclass

UNSPECIFIED: Final = "UNSPECIFIED"
BETWEEN_ZONES: Final = "__"
_IN_TREE: Final = {
    "aws": ("kubernetes.io/aws-ebs", 39),
    "azure": ("kubernetes.io/azure-disk", 16),
    "gce": ("kubernetes.io/gce-pd", 16),
    "openstack": ("kubernetes.io/cinder", 256),
    "vsphere": ("kubernetes.io/vsphere-volume", 0),
}
"""Cloud → the kind of volumes that it had in the tree, and how many a node takes; 0 for any number."""
_OURS: Final = frozenset({"csi-migration", "csimigration"})
"""Parameters by which a class says that it was translated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names of one cloud's disks.

    Attributes:
        cloud: the provider.
        driver: the driver.
        topology: the label of nodes that tells their zone.
        most: how many disks a node can have, 0 for any number.
    """

    cloud: str
    driver: str
    topology: str = ZONE
    most: int = 0

    def handle(self, disk: Disk) -> str:
        """Return a disk's volume id; providers take it for the disk's own."""
        if self.cloud == "aws":
            return disk.id.rpartition("/")[2]
        if self.cloud == "gce":
            zones = disk.labels[ZONE].split(BETWEEN_ZONES)
            place = f"zones/{zones[0]}" if len(zones) == 1 else f"regions/{zones[0].rpartition('-')[0]}"
            return f"projects/{UNSPECIFIED}/{place}/disks/{disk.id}"
        return disk.id

    def context(self, disk: Disk) -> dict[str, str]:
        """Return what a volume's attributes are to say, beside its id."""
        return {"initialvolumefilepath": disk.id} if self.cloud == "vsphere" else {}

    def node_id(self, node_name: str, provider_id: str) -> str:
        """Return what the driver calls a node; `node_name_of` takes it back."""
        if self.cloud == "gce":
            project, _, rest = provider_id.removeprefix("gce://").partition("/")
            return f"projects/{project}/zones/{rest.partition('/')[0]}/instances/{node_name}"
        return node_name

    def places(self, labels: Mapping[str, str]) -> list[dict[str, dict[str, str]]]:
        """Return from where a disk with these labels can be reached; nothing for everywhere."""
        zones = labels.get(ZONE, "")
        return [{"segments": {self.topology: zone}} for zone in zones.split(BETWEEN_ZONES) if zone]

    def parameters(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return a class' parameters as providers read them, after they were translated for the vendor's driver."""
        lower = {key.lower().removesuffix("-migrationparam"): value for key, value in given.items()}
        return {key: value for key, value in lower.items() if key not in _OURS}


def node_name_of(node_id: str) -> str:
    """Return the name of the node that the driver calls so."""
    return node_id.rpartition("/")[2]


def names_of(cloud: str) -> Names:
    """Return the names of a provider's disks: one that was never in the tree has a driver named after it."""
    if cloud not in _IN_TREE:
        return Names(cloud=cloud, driver=f"{cloud.lower()}.disks.hyperkube.dev")
    provisioner, most = _IN_TREE[cloud]
    kind = kind_of_provisioner(provisioner)
    assert kind is not None  # noqa: S101  both tables name the same kinds; a test reads each
    return Names(cloud=cloud, driver=kind.driver, topology=kind.topology or kind.class_topology, most=most)


def is_known(cloud: str) -> bool:
    """Tell whether a provider is one of Kubernetes' own, whose disks have a driver of their vendor's."""
    return cloud in _IN_TREE
