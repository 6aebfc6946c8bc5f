"""The resource group: devices and who claims them."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.resource.device_classes import device_classes
from hyperkube_api.resource.resource_claim_templates import resource_claim_templates
from hyperkube_api.resource.resource_claims.spec import resource_claims
from hyperkube_api.resource.resource_slices.spec import resource_slices

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

RULES_GATE = "DRADeviceTaintRules"


class ResourceApi(Plugin):
    """The resource group: devices and who claims them."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve resource.k8s.io/v1; of v1beta2 DeviceTaintRules with their feature gate, where they are asked for."""
        v1 = (device_classes(), resource_claims(), resource_claim_templates(), resource_slices())
        return [
            ApiGroupVersion(
                group="resource.k8s.io", version="v1", resources=v1, group_priority=16_200, version_priority=21
            ),
            *self._with_rules(),
        ]

    def _with_rules(self) -> list[ApiGroupVersion]:
        if self.context is None or not self.context.gates.get(RULES_GATE):
            return []
        from hyperkube_api.resource.device_taint_rules import device_taint_rules

        rules = (device_taint_rules(),)
        return [
            ApiGroupVersion(
                group="resource.k8s.io", version="v1beta2", resources=rules, group_priority=16_200, version_priority=15
            )
        ]
