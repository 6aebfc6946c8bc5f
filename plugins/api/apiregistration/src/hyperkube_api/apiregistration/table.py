"""Table rows of API services, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def api_service_cells(obj: Object, now: datetime) -> list[Any]:
    """Return which service serves the group version, and whether it is available."""
    service = cells.spec_of(obj).get("service")
    where = f"{service.get('namespace') or ''}/{service.get('name') or ''}" if service else "Local"
    return [cells.name(obj), where, _available(cells.status_of(obj)), cells.age(obj, now)]


def _available(status: Object) -> str:
    for item in status.get("conditions") or ():
        if item.get("type") == "Available":
            word = item.get("status") or ""
            return f"{word} ({item['reason']})" if word != "True" and item.get("reason") else str(word)
    return "Unknown"
