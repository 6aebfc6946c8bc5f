"""The table of pod templates.

Source: kubernetes pkg/printers/internalversion/printers.go (printPodTemplate).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, labels_of


def pod_template_cells(obj: Object, now: datetime) -> list[Any]:
    """Return containers, images and labels."""
    del now
    template = obj.get("template") or {}
    return [cells.name(obj), *cells.containers(template), cells.labels(labels_of(template))]
