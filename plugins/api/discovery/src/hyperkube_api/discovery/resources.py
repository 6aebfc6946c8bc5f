"""The discovery group: the addresses behind a service."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.discovery.strategy import EndpointSliceStrategy
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("discovery.k8s.io", "v1", "hyperkube_api.discovery.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "endpointslices",
            "EndpointSlice",
            storage_prefix="endpointslices",
            storage_version_hash="qgS0xkrxYAI=",
            strategy=EndpointSliceStrategy(),
            columns=(
                NAME,
                column("AddressType", field="addressType"),
                column("Ports", field="ports"),
                column("Endpoints", field="endpoints"),
                AGE,
            ),
            cells=OnFirstUse("hyperkube_api.discovery.table:endpoint_slice_cells"),
        ),
    )


class DiscoveryApi(Plugin):
    """The discovery group: the addresses behind a service."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve discovery.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="discovery.k8s.io", version="v1", resources=_v1(), group_priority=16_200, version_priority=15
            ),
        ]
