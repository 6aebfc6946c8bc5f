"""What happens when a CronJob is created, changed or deleted.

Source: kubernetes pkg/registry/batch/cronjob.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object

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
        from hyperkube_api.batch.cron_jobs.defaults import default_cron_job

        default_cron_job(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the schedule and the job template."""
        from hyperkube_api.batch.cron_jobs.validation import validate_cron_job, validate_cron_job_name

        return validate_cron_job(obj, None) + validate_cron_job_name(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, apart from the name."""
        from hyperkube_api.batch.cron_jobs.validation import validate_cron_job

        return validate_cron_job(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of what is allowed but unwise in the name, the schedule and the template."""
        from hyperkube_api.batch.jobs.warnings import job_warnings

        found = workload_name_warnings(obj) if old is None else []
        if changed_generation(obj, old):
            job = (obj["spec"].get("jobTemplate") or {}).get("spec") or {}
            found += job_warnings(job, "spec.jobTemplate.spec")
        if old is not None and "TZ" in (obj["spec"].get("schedule") or ""):
            found.append(_ZONE_IN_SCHEDULE)
        return found
