"""What happens when a CronJob is created, changed or deleted.

Source: kubernetes pkg/registry/batch/cronjob.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object

_default_cron_job: OnFirstUse[None] = OnFirstUse("hyperkube_api.batch.cron_jobs.defaults:default_cron_job")
_validate_cron_job: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.batch.cron_jobs.validation:validate_cron_job"
)
_validate_cron_job_name: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.batch.cron_jobs.validation:validate_cron_job_name"
)
_job_warnings: OnFirstUse[list[str]] = OnFirstUse("hyperkube_api.batch.jobs.warnings:job_warnings")

_ZONE_IN_SCHEDULE = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


class CronJobStrategy(StatusStrategy):
    """Jobs that are made at the times of a schedule."""

    metadata_checks = ("change",)
    generation = True

    def default(self, obj: Object) -> None:
        """Fill in the policies and the pod template."""
        _default_cron_job.call(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the schedule and the job template."""
        return _validate_cron_job.call(obj, None) + _validate_cron_job_name.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, apart from the name."""
        return _validate_cron_job.call(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of what is allowed but unwise in the name, the schedule and the template."""
        found = workload_name_warnings(obj) if old is None else []
        if changed_generation(obj, old):
            job = (obj["spec"].get("jobTemplate") or {}).get("spec") or {}
            found += _job_warnings.call(job, "spec.jobTemplate.spec")
        if old is not None and "TZ" in (obj["spec"].get("schedule") or ""):
            found.append(_ZONE_IN_SCHEDULE)
        return found
