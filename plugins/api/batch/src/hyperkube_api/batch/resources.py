"""The batch group: pods that run to their end."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.batch import tables
from hyperkube_api.batch.strategies import CronJobStrategy, JobStrategy
from hyperkube_api.meta.specs import Version, columns, fields

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("batch", "v1", "hyperkube_api.batch.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "cronjobs",
            "CronJob",
            short_names=("cj",),
            categories=("all",),
            storage_prefix="cronjobs",
            storage_version_hash="sd5LIXh4Fjs=",
            strategy=CronJobStrategy(),
            columns=columns(
                "Schedule=spec.schedule",
                "Timezone=spec.timeZone",
                "Suspend:boolean=spec.suspend",
                "Active:integer=status.active",
                "Last Schedule=status.lastScheduleTime",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.jobTemplate.spec.selector",
            ),
            cells=tables.cron_job,
            subresources=(V1.status("CronJob"),),
        ),
        V1.resource(
            "jobs",
            "Job",
            categories=("all",),
            storage_prefix="jobs",
            storage_version_hash="mudhfqk/qZY=",
            strategy=JobStrategy(),
            columns=columns(
                "Status -- Status of the job.",
                "Completions=status.succeeded",
                "Duration -- Time required to complete the job.",
                "Age",
                "+Containers -- Names of each container in the template.",
                "+Images -- Images referenced by each container in the template.",
                "+Selector=spec.selector",
            ),
            cells=tables.job,
            fields=fields("status.successful"),
            subresources=(V1.status("Job"),),
        ),
    )


class BatchApi(Plugin):
    """The batch group: pods that run to their end."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve batch/v1."""
        return [
            ApiGroupVersion(group="batch", version="v1", resources=_v1(), group_priority=17_400, version_priority=15),
        ]
