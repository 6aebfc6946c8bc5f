"""The storagemigration group: stored objects are written anew, in the version that is stored now."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

GATE = "StorageVersionMigrator"


class StoragemigrationApi(Plugin):
    """The storagemigration group: stored objects are written anew, in the version that is stored now."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve storagemigration.k8s.io/v1beta1 with the feature gate StorageVersionMigrator, where it is asked for."""
        if self.context is None or not self.context.gates.get(GATE):
            return []
        from hyperkube_api.storagemigration.storage_version_migrations import storage_version_migrations

        return [
            ApiGroupVersion(
                group="storagemigration.k8s.io",
                version="v1beta1",
                resources=(storage_version_migrations(),),
                group_priority=16_100,
                version_priority=9,
            )
        ]
