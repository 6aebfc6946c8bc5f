"""scheduling.k8s.io/v1beta1 and v1alpha1: priority classes."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_api.scheduling.resources import SchedulingApi

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "scheduling.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_cluster.schemas.scheduling_v1beta1"),
    lifecycle=Lifecycle(14, 22, "scheduling.k8s.io/v1"),
)
_V1ALPHA1 = OlderVersion(
    version=Version(_GROUP, "v1alpha1", "hyperkube_api.legacy_cluster.schemas.scheduling_v1alpha1"),
    lifecycle=Lifecycle(14, 22, "scheduling.k8s.io/v1"),
)
_RESOURCES = ("priorityclasses",)


class LegacySchedulingApi(Plugin):
    """scheduling.k8s.io/v1beta1 and v1alpha1: priority classes."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve what is asked for."""
        newer = newest_resources(SchedulingApi, self.context)
        return [
            _V1BETA1.group_version(
                [_V1BETA1.resource(newer[name]) for name in _RESOURCES], group_priority=16_600, version_priority=12
            ),
            _V1ALPHA1.group_version(
                [_V1ALPHA1.resource(newer[name]) for name in _RESOURCES], group_priority=16_600, version_priority=9
            ),
        ]
