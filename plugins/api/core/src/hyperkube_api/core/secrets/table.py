"""The table of Secrets.

Source: kubernetes pkg/printers/internalversion/printers.go (printSecret).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def secret_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the type and how many entries there are."""
    return [cells.name(obj), obj.get("type") or "", len(obj.get("data") or ()), cells.age(obj, now)]
