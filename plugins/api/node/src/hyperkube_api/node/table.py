"""Table rows of runtime classes, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def runtime_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the handler."""
    return [cells.name(obj), obj.get("handler") or "", cells.age(obj, now)]
