"""Priority and fairness: what the server decides when a schema or a level is created or changed.

Source: kubernetes pkg/registry/flowcontrol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.flowcontrol.dangling import condition
from hyperkube_api.flowcontrol.defaults import default_flow_schema, default_priority_level
from hyperkube_api.flowcontrol.validation import validate_conditions, validate_flow_schema, validate_priority_level
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

_LEVELS = GroupVersionResource("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations")


def _level_of(schema: Object) -> str:
    return str(((schema.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name") or "")


def _tell_level(call: Call, schema: Object) -> None:
    level, exists = _level_of(schema), True
    try:
        call.objects.get(_LEVELS, level)
    except NotFound:
        exists = False
    status = dict(schema.get("status") or {})
    others = [item for item in status.get("conditions") or () if item.get("type") != "Dangling"]
    now = format_time(call.clock.now())
    schema["status"] = {**status, "conditions": [*others, condition(level, now, exists=exists)]}


class FlowSchemaStrategy(StatusStrategy):
    """Which requests belong to which level."""

    generation = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in the precedence."""
        default_flow_schema(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Tell whether the level is there."""
        _tell_level(call, obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Tell it again when another level is named."""
        if _level_of(obj) != _level_of(old):
            _tell_level(call, obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check precedence, level and rules."""
        return validate_flow_schema(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        return validate_conditions(obj)


class PriorityLevelConfigurationStrategy(StatusStrategy):
    """How much of the server a level may use, and how it queues."""

    generation = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata")}

    def default(self, obj: Object) -> None:
        """Fill in shares and queues."""
        default_priority_level(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check type, shares and queues."""
        return validate_priority_level(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        return validate_conditions(obj)
