"""Disks of the clouds whose drivers have left the tree: a CSI driver attaches them, and its limit counts them.

Source: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/utils.go`` (isCSIMigrationOn).
"""

from __future__ import annotations

from hyperkube_lib import csi_translation
from hyperkube_lib.csi_translation import IN_TREE, InTreeKind, TranslationFailed

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, annotations_of

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation by which a CSINode lists the plugins that moved to a driver there."""
_COUNTED = frozenset({"awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "cinder", "portworxVolume"})


@dataclass(frozen=True, slots=True)
class Migrated:
    """A kind that was in the tree.

    Attributes:
        kind: what it was, and is called now.
        always: whether it moved everywhere, or only where the CSINode's annotation says so.
    """

    kind: InTreeKind
    always: bool = True

    @property
    def plugin(self) -> str:
        """The provisioner's name in the tree."""
        return self.kind.plugin

    @property
    def driver(self) -> str:
        """The CSI driver that took over."""
        return self.kind.driver

    @property
    def topology(self) -> str:
        """The label by which the driver tells zones apart; empty if it does not."""
        return self.kind.topology

    def is_on(self, csi_node: Object | None) -> bool:
        """Tell whether the driver serves these disks on a node."""
        return csi_node is not None and (self.always or self.is_listed(csi_node))

    def is_listed(self, csi_node: Object | None) -> bool:
        """Tell whether a CSINode's annotation says that the driver serves these disks there."""
        return self.plugin in annotations_of(csi_node or {}).get(MIGRATED_PLUGINS, "").split(",")


MIGRATED = tuple(Migrated(each, each.source != "portworxVolume") for each in IN_TREE if each.source in _COUNTED)


def of_volume(volume: Object) -> Migrated | None:
    """Return what took over an inline volume, or the spec of a PersistentVolume; None for all others."""
    return next((each for each in MIGRATED if volume.get(each.kind.source) is not None), None)


def of_provisioner(name: str) -> Migrated | None:
    """Return what took over a provisioner; None for one that was never in the tree."""
    return next((each for each in MIGRATED if each.plugin == name), None)


def handle_of(volume: Object, persistent: Object | None = None) -> str:
    """Return the driver's name for an inline volume, or for the spec of a `persistent` one; empty if it has none."""
    found = of_volume(volume)
    if found is None:
        return ""
    try:
        return str(found.kind.to_csi(volume[found.kind.source], persistent or {"metadata": {}})["volumeHandle"])
    except TranslationFailed:
        return ""


def moved_terms(volume: Object) -> list[Object]:
    """Return the node selector terms of a PersistentVolume as its driver has them: with its own label for zones."""
    found = of_volume(volume["spec"])
    return csi_translation.moved_terms(volume, found.topology if found is not None else "")
