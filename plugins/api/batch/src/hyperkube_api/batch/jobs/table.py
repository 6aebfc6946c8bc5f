"""Table rows of Jobs, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import human_duration, parse_time


def job_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the status of a job; wide: containers and selector."""
    spec = cells.spec_of(obj)
    return [
        cells.name(obj),
        _status(obj),
        _completions(obj),
        _duration(obj, now),
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.selector(spec.get("selector")),
    ]


def _completions(obj: Object) -> str:
    spec, done = cells.spec_of(obj), cells.status_of(obj).get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{done}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{done}/1 of {parallelism}" if parallelism > 1 else f"{done}/1"


def _duration(obj: Object, now: datetime) -> str:
    status = cells.status_of(obj)
    if not status.get("startTime"):
        return ""
    end = parse_time(status["completionTime"]) if status.get("completionTime") else now
    return human_duration(end - parse_time(status["startTime"]))


def _status(obj: Object) -> str:
    true = {item.get("type") for item in cells.status_of(obj).get("conditions") or () if item.get("status") == "True"}
    if "Complete" in true:
        return "Complete"
    if "Failed" in true:
        return "Failed"
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if kind in true:
            return kind
    return "Running"
