"""The storage group: where volumes come from and which node holds them."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version, columns
from hyperkube_api.storage import tables
from hyperkube_api.storage.strategies import (
    CSIDriverStrategy,
    CSINodeStrategy,
    CSIStorageCapacityStrategy,
    StorageClassStrategy,
    VolumeAttachmentStrategy,
    VolumeAttributesClassStrategy,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("storage.k8s.io", "v1", "hyperkube_api.storage.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "csidrivers",
            "CSIDriver",
            namespaced=False,
            storage_prefix="csidrivers",
            storage_version_hash="hL6j/rwBV5w=",
            strategy=CSIDriverStrategy(),
            columns=columns(
                "AttachRequired:boolean=spec.attachRequired",
                "PodInfoOnMount:boolean=spec.podInfoOnMount",
                "StorageCapacity:boolean=spec.storageCapacity",
                "TokenRequests=spec.tokenRequests",
                "RequiresRepublish:boolean=spec.requiresRepublish",
                "Modes=spec.volumeLifecycleModes",
                "Age",
            ),
            cells=tables.csi_driver,
        ),
        V1.resource(
            "csinodes",
            "CSINode",
            namespaced=False,
            storage_prefix="csinodes",
            storage_version_hash="Pe62DkZtjuo=",
            strategy=CSINodeStrategy(),
            columns=columns(
                "Drivers:integer -- Drivers indicates the number of CSI drivers registered on the node", "Age"
            ),
            cells=tables.csi_node,
        ),
        V1.resource(
            "csistoragecapacities",
            "CSIStorageCapacity",
            storage_prefix="csistoragecapacities",
            storage_version_hash="xeVl+2Ly1kE=",
            strategy=CSIStorageCapacityStrategy(),
            columns=columns("Created At:date"),
            cells=tables.csi_storage_capacity,
        ),
        V1.resource(
            "storageclasses",
            "StorageClass",
            namespaced=False,
            short_names=("sc",),
            storage_prefix="storageclasses",
            storage_version_hash="K+m6uJwbjGY=",
            strategy=StorageClassStrategy(),
            columns=columns(
                "Provisioner=provisioner",
                "ReclaimPolicy=reclaimPolicy",
                "VolumeBindingMode=volumeBindingMode",
                "AllowVolumeExpansion=allowVolumeExpansion",
                "Age",
            ),
            cells=tables.storage_class,
        ),
        V1.resource(
            "volumeattachments",
            "VolumeAttachment",
            namespaced=False,
            storage_prefix="volumeattachments",
            storage_version_hash="tJx/ezt6UDU=",
            strategy=VolumeAttachmentStrategy(),
            columns=columns(
                "Attacher:string:name=spec.attacher",
                "PV=spec.source.persistentVolumeName",
                "Node=spec.nodeName",
                "Attached:boolean=status.attached",
                "Age",
            ),
            cells=tables.volume_attachment,
            subresources=(V1.status("VolumeAttachment"),),
        ),
        V1.resource(
            "volumeattributesclasses",
            "VolumeAttributesClass",
            namespaced=False,
            short_names=("vac",),
            storage_prefix="volumeattributesclasses",
            storage_version_hash="tIjydgKBC5w=",
            strategy=VolumeAttributesClassStrategy(),
            columns=columns("DriverName=driverName", "Age"),
            cells=tables.volume_attributes_class,
        ),
    )


class StorageApi(Plugin):
    """The storage group: where volumes come from and which node holds them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve storage.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="storage.k8s.io", version="v1", resources=_v1(), group_priority=16_800, version_priority=15
            ),
        ]
