"""Disruption budgets: what happens when one is created, changed or deleted.

Source: kubernetes pkg/registry/policy/poddisruptionbudget.
"""

from __future__ import annotations

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import path_segment_name, path_segment_prefix
from hyperkube.machinery.objects import Object


class PodDisruptionBudgetStrategy(StatusStrategy):
    """How many pods may be missing at once."""

    plain_finalizers = True
    metadata_checks = ()
    generation = True
    allow_unconditional_update = False

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a path segment."""
        return path_segment_prefix(name) if prefix else path_segment_name(name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the numbers and the selector."""
        from hyperkube_api.policy.validation import validate_budget

        return validate_budget(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        from hyperkube_api.policy.validation import validate_budget_status

        return validate_budget_status(obj)
