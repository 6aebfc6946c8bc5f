"""storage.k8s.io/v1beta1: where volumes come from and which node holds them."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.storage.resources import StorageApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "storage.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_cluster.schemas.storage_v1beta1"),
    lifecycle=Lifecycle(19, 22, "storage.k8s.io/v1"),
)
_LIVES = {"csinodes": Lifecycle(17, 22, f"{_GROUP}/v1"), "csistoragecapacities": Lifecycle(24, 27, f"{_GROUP}/v1")}
_RESOURCES = ("csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments")


class LegacyStorageApi(Plugin):
    """storage.k8s.io/v1beta1: where volumes come from and which node holds them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve what is asked for."""
        newer = newest_resources(StorageApi, self.context)
        return [
            _V1BETA1.group_version(
                [_V1BETA1.resource(newer[name], lifecycle=_LIVES.get(name)) for name in _RESOURCES],
                group_priority=16_800,
                version_priority=9,
            ),
        ]
