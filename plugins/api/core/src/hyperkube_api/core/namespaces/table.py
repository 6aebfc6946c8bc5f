"""The table of namespaces.

Source: kubernetes pkg/printers/internalversion/printers.go (printNamespace).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def namespace_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the phase."""
    return [cells.name(obj), cells.status_of(obj).get("phase") or "", cells.age(obj, now)]
