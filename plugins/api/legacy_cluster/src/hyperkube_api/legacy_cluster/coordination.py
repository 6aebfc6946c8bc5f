"""coordination.k8s.io/v1beta1: leases."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.coordination.resources import CoordinationApi
from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "coordination.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_cluster.schemas.coordination_v1beta1"),
    lifecycle=Lifecycle(19, 22, "coordination.k8s.io/v1"),
)
_RESOURCES = ("leases",)


class LegacyCoordinationApi(Plugin):
    """coordination.k8s.io/v1beta1: leases."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve what is asked for."""
        newer = newest_resources(CoordinationApi, self.context)
        return [
            _V1BETA1.group_version(
                [_V1BETA1.resource(newer[name]) for name in _RESOURCES], group_priority=16_500, version_priority=9
            ),
        ]
