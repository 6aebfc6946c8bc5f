"""Table rows of NetworkPolicies, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def network_policy_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the selector of the pods that the policy is for."""
    return [cells.name(obj), cells.selector(cells.spec_of(obj).get("podSelector")), cells.age(obj, now)]
