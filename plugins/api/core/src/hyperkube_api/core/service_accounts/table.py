"""The table of service accounts.

Source: kubernetes pkg/printers/internalversion/printers.go (printServiceAccount).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def service_account_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the age."""
    return [cells.name(obj), cells.age(obj, now)]
