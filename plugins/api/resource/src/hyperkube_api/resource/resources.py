"""The resource group: devices and who claims them."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.specs import Version, columns, fields
from hyperkube_api.resource import tables
from hyperkube_api.resource.strategies import (
    DeviceClassStrategy,
    ResourceClaimStrategy,
    ResourceClaimTemplateStrategy,
    ResourceSliceStrategy,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("resource.k8s.io", "v1", "hyperkube_api.resource.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "deviceclasses",
            "DeviceClass",
            namespaced=False,
            storage_prefix="deviceclasses",
            storage_version_hash="Yk2PTc1Ybxk=",
            strategy=DeviceClassStrategy(),
            columns=columns("Age"),
            cells=tables.device_class,
        ),
        V1.resource(
            "resourceclaims",
            "ResourceClaim",
            storage_prefix="resourceclaims",
            storage_version_hash="wgAZaHcZxUg=",
            strategy=ResourceClaimStrategy(),
            columns=columns("State -- A summary of the current state (allocated, pending, reserved, etc.).", "Age"),
            cells=tables.resource_claim,
            subresources=(V1.status("ResourceClaim"),),
        ),
        V1.resource(
            "resourceclaimtemplates",
            "ResourceClaimTemplate",
            storage_prefix="resourceclaimtemplates",
            storage_version_hash="TuzjC49aUfM=",
            strategy=ResourceClaimTemplateStrategy(),
            columns=columns("Age"),
            cells=tables.resource_claim_template,
        ),
        V1.resource(
            "resourceslices",
            "ResourceSlice",
            namespaced=False,
            storage_prefix="resourceslices",
            storage_version_hash="KsC072WgaEY=",
            strategy=ResourceSliceStrategy(),
            columns=columns("Node=spec.nodeName", "Driver=spec.driver", "Pool=spec.pool.name", "Age"),
            cells=tables.resource_slice,
            fields=fields("spec.nodeName", "spec.driver"),
        ),
    )


class ResourceApi(Plugin):
    """The resource group: devices and who claims them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve resource.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="resource.k8s.io", version="v1", resources=_v1(), group_priority=16_200, version_priority=21
            ),
        ]
