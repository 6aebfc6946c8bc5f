"""The apiregistration group: who serves which group version."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.apiregistration.strategy import APIServiceStrategy
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("apiregistration.k8s.io", "v1", "hyperkube_api.apiregistration.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "apiservices",
            "APIService",
            namespaced=False,
            categories=("api-extensions",),
            storage_prefix="apiregistration.k8s.io/apiservices",
            storage_version_hash="InPBPD7+PqM=",
            strategy=APIServiceStrategy(),
            columns=(
                NAME,
                column("Service", description="The reference to the service that hosts this API endpoint."),
                column("Available", description="Whether this service is available."),
                AGE,
            ),
            cells=OnFirstUse("hyperkube_api.apiregistration.table:api_service_cells"),
            subresources=(V1.status("APIService"),),
        ),
    )


class ApiregistrationApi(Plugin):
    """The apiregistration group: who serves which group version."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve apiregistration.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="apiregistration.k8s.io",
                version="v1",
                resources=_v1(),
                group_priority=18_001,
                version_priority=15,
            ),
        ]
