"""autoscaling/v2beta2: autoscalers on their way to autoscaling/v2."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.autoscaling.resources import AutoscalingApi
from hyperkube_api.meta.older import Life, Older, declared
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "autoscaling"
_V2BETA2 = Older(
    version=Version(_GROUP, "v2beta2", "hyperkube_api.legacy_workloads.schemas.autoscaling_v2beta2"),
    life=Life(23, 26, "autoscaling/v2"),
)
_RESOURCES = ("horizontalpodautoscalers",)


class LegacyAutoscalingApi(Plugin):
    """autoscaling/v2beta2: autoscalers on their way to autoscaling/v2."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve what is asked for."""
        newer = declared(AutoscalingApi, self.context)
        return [
            _V2BETA2.group_version(
                [_V2BETA2.resource(newer[name]) for name in _RESOURCES], group_priority=17_500, version_priority=1
            ),
        ]
