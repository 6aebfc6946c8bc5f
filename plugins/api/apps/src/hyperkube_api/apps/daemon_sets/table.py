"""Table rows of DaemonSets, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def daemon_set_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the counts of nodes; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    members = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    template = spec.get("template") or {}
    return [
        cells.name(obj),
        *(status.get(member) or 0 for member in members),
        cells.labels((template.get("spec") or {}).get("nodeSelector")),
        cells.age(obj, now),
        *cells.containers(template),
        cells.selector(spec.get("selector")),
    ]
