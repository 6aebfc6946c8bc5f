"""Table rows of custom resource definitions, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def custom_resource_definition_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the time of creation."""
    del now
    return [cells.name(obj), cells.created(obj)]
