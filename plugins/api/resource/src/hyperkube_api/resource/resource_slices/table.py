"""Table rows of ResourceSlices, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def resource_slice_cells(obj: Object, now: datetime) -> list[Any]:
    """Return node, driver and pool of the devices."""
    spec = cells.spec_of(obj)
    pool = (spec.get("pool") or {}).get("name") or ""
    return [cells.name(obj), spec.get("nodeName") or "", spec.get("driver") or "", pool, cells.age(obj, now)]
