"""The table of replication controllers.

Source: kubernetes pkg/printers/internalversion/printers.go (printReplicationController).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def replication_controller_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the counts; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.labels(spec.get("selector")),
    ]
