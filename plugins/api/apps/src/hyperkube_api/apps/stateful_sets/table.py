"""Table rows of StatefulSets, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def stateful_set_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many replicas are ready; wide: containers."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    ready = f"{status.get('readyReplicas') or 0}/{spec.get('replicas') or 0}"
    return [cells.name(obj), ready, cells.age(obj, now), *cells.containers(spec.get("template"))]
