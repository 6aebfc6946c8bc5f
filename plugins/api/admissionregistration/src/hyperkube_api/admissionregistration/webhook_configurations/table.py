"""Table rows of webhook configurations, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def validating_webhook_configuration_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many webhooks there are."""
    return [cells.name(obj), len(obj.get("webhooks") or ()), cells.age(obj, now)]


mutating_webhook_configuration_cells = validating_webhook_configuration_cells
