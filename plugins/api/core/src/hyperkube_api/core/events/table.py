"""The table of events, of both groups.

Source: kubernetes pkg/printers/internalversion/printers.go (printEvent).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def event_cells(obj: Object, now: datetime) -> list[Any]:
    """Return when, how serious, why, about what and the message; wide: more of each."""
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    series, when = obj.get("series"), obj.get("eventTime")
    first_text = obj.get("firstTimestamp") or obj.get("deprecatedFirstTimestamp")
    last_text = obj.get("lastTimestamp") or obj.get("deprecatedLastTimestamp")
    first = cells.since(first_text, now) if first_text else cells.since(when, now)
    last = cells.since(last_text, now) if last_text else first
    count = obj.get("count") or obj.get("deprecatedCount") or 0
    if series is not None:
        last, count = cells.since(series.get("lastObservedTime"), now), series.get("count") or 0
    elif not count:
        count = 1
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        _target(about),
        about.get("fieldPath") or "",
        _source(obj),
        (obj.get("message") or obj.get("note") or "").strip(),
        first,
        count,
        cells.name(obj),
    ]


def _target(about: Object) -> str:
    kind, name = (about.get("kind") or "").lower(), about.get("name") or ""
    return f"{kind}/{name}" if name else kind


def _source(obj: Object) -> str:
    source = obj.get("source") or obj.get("deprecatedSource") or {}
    reporter = obj.get("reportingComponent") or obj.get("reportingController")
    component = source.get("component") or reporter or ""
    host = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component
