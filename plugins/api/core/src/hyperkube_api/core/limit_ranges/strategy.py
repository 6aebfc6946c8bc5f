"""How a limit range is created and updated.

Source: kubernetes pkg/registry/core/limitrange/strategy.go.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class LimitRangeStrategy(Strategy):
    """What one pod, container or claim may use."""

    metadata_checks = ("object",)
    allow_create_on_update = True

    def default(self, obj: Object) -> None:
        """Fill in default requests and limits from the bounds."""
        from hyperkube_api.core.limit_ranges.defaults import default_limit_range

        default_limit_range(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the bounds against one another."""
        from hyperkube_api.core.limit_ranges.validation import validate_limit_range

        return validate_limit_range(obj)
