"""Table rows of Deployments, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def deployment_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many replicas are ready; wide: containers and selector."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}",
        status.get("updatedReplicas") or 0,
        status.get("availableReplicas") or 0,
        cells.age(obj, now),
        *cells.containers(spec.get("template")),
        cells.selector(spec.get("selector"), empty="", wrong="<invalid>"),
    ]
