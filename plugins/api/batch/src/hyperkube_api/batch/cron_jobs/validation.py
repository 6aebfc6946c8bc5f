"""Validation of CronJobs.

Source: kubernetes pkg/apis/batch/validation (ValidateCronJobSpec).
"""

from __future__ import annotations

import re

from hyperkube_api.batch.cron_jobs.schedule import is_zone, schedule_fault
from hyperkube_api.batch.jobs.validation.job import validate_job_spec
from hyperkube_api.meta.validation import counts, one_of

from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object, name_of

MAX_NAME = 52
POLICIES = ("Allow", "Forbid", "Replace")
_SPEC = ROOT.child("spec")


def validate_cron_job_name(cron_job: Object) -> list[FieldError]:
    """Check that a name leaves room for what is added to it."""
    name = name_of(cron_job)
    if len(name) <= MAX_NAME:
        return []
    return [invalid(ROOT.child("metadata", "name"), name, f"must be no more than {MAX_NAME} characters")]


def validate_cron_job(cron_job: Object, old: Object | None) -> list[FieldError]:
    """Check a cron job; what was stored before stays allowed."""
    spec = cron_job["spec"]
    errors: list[FieldError] = []
    schedule = spec.get("schedule") or ""
    if not schedule:
        errors.append(required(_SPEC.child("schedule")))
    else:
        zoned = old is not None and "TZ" in (old["spec"].get("schedule") or "")
        errors += _schedule(_SPEC.child("schedule"), schedule, spec.get("timeZone"), zoned=zoned)
    errors += counts(_SPEC, spec, "startingDeadlineSeconds")
    if spec.get("timeZone") is not None and (old is None or spec["timeZone"] != old["spec"].get("timeZone")):
        errors += _zone(_SPEC.child("timeZone"), spec["timeZone"])
    errors += one_of(_SPEC.child("concurrencyPolicy"), spec.get("concurrencyPolicy"), POLICIES)
    errors += _job_template(_SPEC.child("jobTemplate", "spec"), (spec.get("jobTemplate") or {}).get("spec") or {})
    return errors + counts(_SPEC, spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _job_template(path: Path, spec: Object) -> list[FieldError]:
    errors = validate_job_spec(path, spec, template_only=True)
    if spec.get("selector") is not None:
        errors.append(invalid(path.child("selector"), spec["selector"], "`selector` will be auto-generated"))
    if spec.get("manualSelector"):
        errors.append(not_supported(path.child("manualSelector"), spec["manualSelector"], ("nil", "false")))
    return errors


def _schedule(path: Path, schedule: str, zone: str | None, *, zoned: bool) -> list[FieldError]:
    """Check a schedule; `zoned`: the stored one has a zone in it, which may stay there."""
    errors: list[FieldError] = []
    fault = schedule_fault(schedule)
    if fault:
        errors.append(invalid(path, schedule, fault))
    if "TZ" in schedule and not zoned:
        text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(path, schedule, text))
    elif "TZ" in schedule and zone is not None:
        text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid(path, schedule, text))
    return errors


_ZONE_PART = re.compile(r"(?!-)[A-Za-z._0-9+-]{1,14}")


def _zone(path: Path, zone: str) -> list[FieldError]:
    if not zone:
        return [invalid(path, zone, "timeZone must be nil or non-empty string")]
    unknown = invalid(path, zone, f"unknown time zone {zone}")
    if any(part in {".", ".."} or not _ZONE_PART.fullmatch(part) for part in zone.split("/")):
        return [unknown]
    errors: list[FieldError] = []
    if zone.lower() == "local":
        text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(invalid(path, zone, text))
    return errors if is_zone(zone) else [*errors, unknown]
