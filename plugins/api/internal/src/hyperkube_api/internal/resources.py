"""The internal group: what API servers tell one another."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

GATE = "StorageVersionAPI"


class InternalApi(Plugin):
    """The internal group: what API servers tell one another."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve internal.apiserver.k8s.io/v1alpha1 with the feature gate StorageVersionAPI, where it is asked for."""
        if self.context is None or not self.context.gates.get(GATE):
            return []
        from hyperkube_api.internal.storage_versions import storage_versions

        return [
            ApiGroupVersion(
                group="internal.apiserver.k8s.io",
                version="v1alpha1",
                resources=(storage_versions(),),
                group_priority=16_000,
                version_priority=10,
            )
        ]
