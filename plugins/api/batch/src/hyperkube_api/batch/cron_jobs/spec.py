"""How the API server serves CronJobs."""

from __future__ import annotations

from hyperkube_api.batch.cron_jobs.strategy import CronJobStrategy
from hyperkube_api.batch.versions import V1
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def cron_jobs() -> ResourceSpec:
    """Return the specification of the resource ``cronjobs``."""
    return V1.resource(
        "cronjobs",
        "CronJob",
        short_names=("cj",),
        categories=("all",),
        storage_prefix="cronjobs",
        storage_version_hash="sd5LIXh4Fjs=",
        strategy=CronJobStrategy(),
        columns=(
            NAME,
            column("Schedule", field="spec.schedule"),
            column("Timezone", field="spec.timeZone"),
            column("Suspend", type="boolean", field="spec.suspend"),
            column("Active", type="integer", field="status.active"),
            column("Last Schedule", field="status.lastScheduleTime"),
            AGE,
            column("Containers", priority=1, description="Names of each container in the template."),
            column("Images", priority=1, description="Images referenced by each container in the template."),
            column("Selector", priority=1, field="spec.jobTemplate.spec.selector"),
        ),
        cells=OnFirstUse("hyperkube_api.batch.cron_jobs.table:cron_job_cells"),
        subresources=(V1.status("CronJob"),),
    )
