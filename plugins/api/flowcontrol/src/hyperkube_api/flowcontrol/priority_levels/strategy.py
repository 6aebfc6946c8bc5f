"""What happens when a PriorityLevelConfiguration is created, changed or deleted.

Source: kubernetes pkg/registry/flowcontrol/prioritylevelconfiguration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.flowcontrol.conditions import validate_conditions
from hyperkube_api.flowcontrol.priority_levels.defaults import default_priority_level
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class PriorityLevelConfigurationStrategy(StatusStrategy):
    """How much of the server a level may use, and how it queues."""

    metadata_checks = ("object",)
    generation = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata")}

    def default(self, obj: Object) -> None:
        """Fill in shares and queues."""
        default_priority_level(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check type, shares and queues."""
        from hyperkube_api.flowcontrol.priority_levels.validation import validate_priority_level

        return validate_priority_level(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        return validate_conditions(obj)
