"""The table of resource quotas.

Source: kubernetes pkg/printers/internalversion/printers.go (printResourceQuota).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def resource_quota_cells(obj: Object, now: datetime) -> list[Any]:
    """Return what is used of what is allowed, limits apart."""
    status = cells.status_of(obj)
    used = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name, hard in sorted((status.get("hard") or {}).items()):
        side = limits if name.startswith("limits.") else requests
        side.append(f"{name}: {used.get(name, '0')}/{hard}")
    return [cells.name(obj), ", ".join(requests), ", ".join(limits), cells.age(obj, now)]
