"""apps/v1beta1 and apps/v1beta2: workloads on their way to apps/v1."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.apps.resources import AppsApi
from hyperkube_api.legacy_workloads import workloads
from hyperkube_api.legacy_workloads.rollback import with_rollback
from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_V1BETA1 = OlderVersion(
    version=Version("apps", "v1beta1", "hyperkube_api.legacy_workloads.schemas.apps_v1beta1"),
    lifecycle=Lifecycle(8, 16, "apps/v1"),
    scale=workloads.own_scale,
)
_V1BETA2 = OlderVersion(
    version=Version("apps", "v1beta2", "hyperkube_api.legacy_workloads.schemas.apps_v1beta2"),
    lifecycle=Lifecycle(9, 16, "apps/v1"),
    scale=workloads.own_scale,
)


class LegacyAppsApi(Plugin):
    """apps/v1beta1 and apps/v1beta2: workloads on their way to apps/v1."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve both where they are asked for."""
        apps = newest_resources(AppsApi, self.context)
        first = (
            _V1BETA1.resource(apps["controllerrevisions"]),
            with_rollback(_V1BETA1.resource(apps["deployments"], workloads.V1BETA1_DEPLOYMENT), _V1BETA1.version),
            _V1BETA1.resource(apps["statefulsets"], workloads.V1BETA1_STATEFUL_SET),
        )
        second = tuple(_V1BETA2.resource(spec) for spec in apps.values())
        return [
            _V1BETA2.group_version(second, group_priority=17_800, version_priority=9),
            _V1BETA1.group_version(first, group_priority=17_800, version_priority=1),
        ]
