"""The resource group: devices and who claims them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperkube_api.resource.device_classes import device_classes
from hyperkube_api.resource.resource_claim_templates import resource_claim_templates
from hyperkube_api.resource.resource_claims.spec import resource_claims
from hyperkube_api.resource.resource_slices.spec import resource_slices

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

RULES_GATE = "DRADeviceTaintRules"


class ResourceApi(Plugin):
    """The resource group: devices and who claims them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve resource.k8s.io/v1; DeviceTaintRules with their feature gate, in the versions that are asked for."""
        v1 = (device_classes(), resource_claims(), resource_claim_templates(), resource_slices())
        return [_version("v1", 21, v1), *self._with_rules()]

    def _with_rules(self) -> Iterator[ApiGroupVersion]:
        if self.context is None or not self.context.gates.get(RULES_GATE):
            return
        from hyperkube_api.resource.device_taint_rules import V1ALPHA3, V1BETA2, device_taint_rules

        for version, priority in ((V1BETA2, 15), (V1ALPHA3, 1)):
            yield _version(version.version, priority, (device_taint_rules(version),))


def _version(version: str, priority: int, resources: tuple[ResourceSpec, ...]) -> ApiGroupVersion:
    return ApiGroupVersion(
        group="resource.k8s.io",
        version=version,
        resources=resources,
        group_priority=16_200,
        version_priority=priority,
    )
