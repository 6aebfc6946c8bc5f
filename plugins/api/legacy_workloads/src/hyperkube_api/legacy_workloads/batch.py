"""batch/v1beta1 and batch/v2alpha1: cron jobs on their way to batch/v1."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.batch.resources import BatchApi
from hyperkube_api.meta.older_versions import Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin

_GROUP = "batch"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_workloads.schemas.batch_v1beta1"),
    lifecycle=Lifecycle(21, 25, "batch/v1"),
)
_V2ALPHA1 = OlderVersion(
    version=Version(_GROUP, "v2alpha1", "hyperkube_api.legacy_workloads.schemas.batch_v2alpha1"),
    lifecycle=Lifecycle(21, 21, "batch/v1"),
)
_RESOURCES = ("cronjobs",)


class LegacyBatchApi(Plugin):
    """batch/v1beta1 and batch/v2alpha1: cron jobs on their way to batch/v1."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve what is asked for."""
        newer = newest_resources(BatchApi, self.context)
        return [
            _V1BETA1.group_version(
                [_V1BETA1.resource(newer[name]) for name in _RESOURCES], group_priority=17_400, version_priority=9
            ),
            _V2ALPHA1.group_version(
                [_V2ALPHA1.resource(newer[name]) for name in _RESOURCES], group_priority=17_400, version_priority=8
            ),
        ]
