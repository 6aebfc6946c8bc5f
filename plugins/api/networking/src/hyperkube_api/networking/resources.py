"""The networking group: who may reach which pods, from outside and from within."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.networking.ingress_classes import ingress_classes
from hyperkube_api.networking.ingresses.spec import ingresses
from hyperkube_api.networking.ip_addresses import ip_addresses
from hyperkube_api.networking.network_policies.spec import network_policies
from hyperkube_api.networking.service_cidrs import service_cidrs

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class NetworkingApi(Plugin):
    """The networking group: who may reach which pods, from outside and from within."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve networking.k8s.io/v1."""
        v1 = (ingress_classes(), ingresses(), ip_addresses(), network_policies(), service_cidrs())
        return [
            ApiGroupVersion(
                group="networking.k8s.io", version="v1", resources=v1, group_priority=17_200, version_priority=15
            ),
        ]
