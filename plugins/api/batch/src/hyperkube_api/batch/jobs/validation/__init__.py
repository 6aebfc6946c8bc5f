"""Validation of Jobs: the object, an update, the status, and the success policy.

A server needs the rules with the first Job, not to start: they are imported by the first check.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube.machinery.field import FieldError, Path
from hyperkube.machinery.objects import Object


def validate_job(job: Object) -> list[FieldError]:
    """Check a new Job."""
    from hyperkube_api.batch.jobs.validation import job as rules

    return rules.validate_job(job)


def validate_job_template(path: Path, spec: Object) -> list[FieldError]:
    """Check the specification of the Jobs of a CronJob."""
    from hyperkube_api.batch.jobs.validation import job as rules

    return rules.validate_job_spec(path, spec, template_only=True)


def validate_job_update(job: Object, old: Object, gates: Mapping[str, bool]) -> list[FieldError]:
    """Check an update of a Job."""
    from hyperkube_api.batch.jobs.validation import update

    return update.validate_job_update(job, old, gates)


def validate_job_status_update(job: Object, old: Object) -> list[FieldError]:
    """Check what the controller of a Job reports."""
    from hyperkube_api.batch.jobs.validation import status

    return status.validate_job_status_update(job, old)
