"""The table of limit ranges.

Source: kubernetes pkg/printers/internalversion/printers.go (printObjectMeta).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def limit_range_cells(obj: Object, now: datetime) -> list[Any]:
    """Return when it was made."""
    del now
    return [cells.name(obj), cells.created(obj)]
