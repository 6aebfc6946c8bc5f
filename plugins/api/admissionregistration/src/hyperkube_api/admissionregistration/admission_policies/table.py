"""Table rows of admission policies, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def validating_admission_policy_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many rules there are, and what parametrizes them."""
    spec = cells.spec_of(obj)
    return [
        cells.name(obj),
        len(spec.get("validations") or ()),
        _param_kind(spec.get("paramKind")),
        cells.age(obj, now),
    ]


def mutating_admission_policy_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many mutations there are, and what parametrizes them."""
    spec = cells.spec_of(obj)
    return [cells.name(obj), len(spec.get("mutations") or ()), _param_kind(spec.get("paramKind")), cells.age(obj, now)]


def _param_kind(kind: Object | None) -> str:
    return f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else cells.UNSET
