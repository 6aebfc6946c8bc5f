"""networking.k8s.io/v1beta1: ingresses on their way to networking.k8s.io/v1, and their classes."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.legacy_workloads.ingresses import INGRESS
from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.networking.resources import NetworkingApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "networking.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_workloads.schemas.networking_v1beta1"),
    lifecycle=Lifecycle(19, 22, f"{_GROUP}/v1"),
)


class LegacyNetworkingApi(Plugin):
    """networking.k8s.io/v1beta1: ingresses on their way to networking.k8s.io/v1, and their classes."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve networking.k8s.io/v1beta1 where it is asked for."""
        newer = newest_resources(NetworkingApi, self.context)
        resources = (
            _V1BETA1.resource(newer["ingressclasses"]),
            _V1BETA1.resource(newer["ingresses"], INGRESS),
        )
        return [_V1BETA1.group_version(resources, group_priority=17_200, version_priority=9)]
