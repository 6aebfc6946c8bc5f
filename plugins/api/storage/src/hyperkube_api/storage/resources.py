"""The storage group: where volumes come from and which node holds them."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.storage.csi_drivers import csi_drivers
from hyperkube_api.storage.csi_nodes import csi_nodes
from hyperkube_api.storage.csi_storage_capacities import csi_storage_capacities
from hyperkube_api.storage.storage_classes import storage_classes
from hyperkube_api.storage.volume_attachments import volume_attachments
from hyperkube_api.storage.volume_attributes_classes import volume_attributes_classes

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class StorageApi(Plugin):
    """The storage group: where volumes come from and which node holds them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve storage.k8s.io/v1."""
        v1 = (
            csi_drivers(),
            csi_nodes(),
            csi_storage_capacities(),
            storage_classes(),
            volume_attachments(),
            volume_attributes_classes(),
        )
        return [
            ApiGroupVersion(
                group="storage.k8s.io", version="v1", resources=v1, group_priority=16_800, version_priority=15
            ),
        ]
