"""The table of component statuses.

Source: kubernetes pkg/printers/internalversion/printers.go (printComponentStatus).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def component_status_cells(obj: Object, now: datetime) -> list[Any]:
    """Return whether a component is healthy, and what it says."""
    del now
    condition: Object = next((item for item in obj.get("conditions") or () if item.get("type") == "Healthy"), {})
    word = "Unknown" if not condition else "Healthy" if condition.get("status") == "True" else "Unhealthy"
    return [cells.name(obj), word, condition.get("message") or "", condition.get("error") or ""]
