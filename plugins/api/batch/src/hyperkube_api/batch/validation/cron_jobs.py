"""Cron jobs: schedules, zones and the jobs they make.

Source: kubernetes pkg/apis/batch/validation (ValidateCronJobSpec); schedules as github.com/robfig/cron v3 reads them.
"""

from __future__ import annotations

import re

from hyperkube_api.batch.validation.jobs import validate_job_spec
from hyperkube_api.meta.validation import counts, one_of

from hyperkube.machinery.durations import DurationError, parse_nanoseconds
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object, name_of

MAX_NAME = 52
POLICIES = ("Allow", "Forbid", "Replace")
_SPEC = ROOT.child("spec")
_BOUNDS = (("minutes", 0, 59), ("hours", 0, 23), ("dom", 1, 31), ("month", 1, 12), ("dow", 0, 6))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})


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


def schedule_fault(schedule: str) -> str:
    """Return what is wrong with a schedule, empty if nothing is."""
    text = schedule
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition(" ")
        name = zone.partition("=")[2]
        if not _is_zone(name):
            return f"provided bad location {name}: unknown time zone {name}"
        text = text.strip()
    if text.startswith("@"):
        return _descriptor_fault(text)
    fields = text.split()
    if len(fields) != len(_BOUNDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    for value, bound in zip(fields, _BOUNDS, strict=True):
        fault = _field_fault(value, bound)
        if fault:
            return fault
    return ""


def _descriptor_fault(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if text.startswith("@every "):
        try:
            parse_nanoseconds(text.removeprefix("@every "))
        except DurationError as error:
            return f"failed to parse duration {text}: {error}"
        return ""
    return f"unrecognized descriptor: {text}"


def _field_fault(value: str, bound: tuple[str, int, int]) -> str:
    for part in value.split(","):
        fault = _range_fault(part, bound)
        if fault:
            return fault
    return ""


def _number(text: str, kind: str) -> int | None:
    named = {"month": _MONTHS, "dow": _DAYS}.get(kind)
    if named is not None and text.lower() in named:
        return named.index(text.lower()) + (1 if kind == "month" else 0)
    return int(text) if text.isdecimal() and text.isascii() else None


def _range_fault(part: str, bound: tuple[str, int, int]) -> str:
    kind, low, high = bound
    span, *steps = part.split("/")
    ends = span.split("-")
    if span in {"*", "?"}:
        start, end = low, high
    else:
        numbers = [_number(text, kind) for text in ends]
        for text, number in zip(ends, numbers, strict=True):
            if number is None:
                return f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax'
        if len(numbers) > 2:
            return f"too many hyphens: {part}"
        start, end = numbers[0] or 0, numbers[-1] or 0
        if len(steps) == 1 and len(numbers) == 1:
            end = high
    if len(steps) > 1:
        return f"too many slashes: {part}"
    if steps and not (steps[0].isdecimal() and steps[0].isascii()):
        return f'failed to parse int from {steps[0]}: strconv.Atoi: parsing "{steps[0]}": invalid syntax'
    return _limits_fault(part, start, end, bound, int(steps[0]) if steps else 1)


def _limits_fault(part: str, start: int, end: int, bound: tuple[str, int, int], step: int) -> str:
    _, low, high = bound
    if start < low:
        return f"beginning of range ({start}) below minimum ({low}): {part}"
    if end > high:
        return f"end of range ({end}) above maximum ({high}): {part}"
    if start > end:
        return f"beginning of range ({start}) beyond end of range ({end}): {part}"
    if step == 0:
        return f"step of range should be a positive number: {part}"
    return ""


def _is_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name in {"", "UTC", "Local"}:
        return True
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, IsADirectoryError):
        return False
    return True


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
    return errors if _is_zone(zone) else [*errors, unknown]
