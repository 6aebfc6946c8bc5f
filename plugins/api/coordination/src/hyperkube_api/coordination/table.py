"""Table rows of leases, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def lease_cells(obj: Object, now: datetime) -> list[Any]:
    """Return who holds the lease."""
    return [cells.name(obj), cells.spec_of(obj).get("holderIdentity") or "", cells.age(obj, now)]
