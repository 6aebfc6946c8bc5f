"""The table of ConfigMaps.

Source: kubernetes pkg/printers/internalversion/printers.go (printConfigMap).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def config_map_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many entries there are."""
    return [cells.name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), cells.age(obj, now)]
