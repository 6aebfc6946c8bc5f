"""Table rows of CronJobs, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def cron_job_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the schedule and its runs; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    last = status.get("lastScheduleTime")
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    suspend = spec.get("suspend")
    return [
        cells.name(obj),
        spec.get("schedule") or "",
        spec.get("timeZone") or cells.NONE,
        cells.UNSET if suspend is None else str(bool(suspend)),
        len(status.get("active") or ()),
        cells.since(last, now) if last else cells.NONE,
        cells.age(obj, now),
        *cells.containers(job.get("template")),
        cells.selector(job.get("selector")),
    ]
