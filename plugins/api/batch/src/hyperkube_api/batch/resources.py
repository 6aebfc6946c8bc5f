"""The batch group: pods that run to their end."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.batch.cron_jobs.spec import cron_jobs
from hyperkube_api.batch.jobs.spec import jobs

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.plugin import Plugin


class BatchApi(Plugin):
    """The batch group: pods that run to their end."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve batch/v1."""
        v1 = (cron_jobs(), jobs())
        return [ApiGroupVersion(group="batch", version="v1", resources=v1, group_priority=17_400, version_priority=15)]
