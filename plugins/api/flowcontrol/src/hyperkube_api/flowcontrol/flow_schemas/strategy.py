"""What happens when a FlowSchema is created, changed or deleted.

Source: kubernetes pkg/registry/flowcontrol/flowschema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.flowcontrol.conditions import dangling_condition, validate_conditions
from hyperkube_api.flowcontrol.flow_schemas.defaults import default_flow_schema
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

_LEVELS = GroupVersionResource("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations")


class FlowSchemaStrategy(StatusStrategy):
    """Which requests belong to which level."""

    metadata_checks = ("object",)
    generation = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in the precedence."""
        default_flow_schema(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Set the condition ``Dangling``: whether the priority level exists."""
        _set_dangling_condition(call, obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Set the condition again when another level is named."""
        if _level_of(obj) != _level_of(old):
            _set_dangling_condition(call, obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check precedence, level and rules."""
        from hyperkube_api.flowcontrol.flow_schemas.validation import validate_flow_schema

        return validate_flow_schema(obj)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        return validate_conditions(obj)


def _level_of(schema: Object) -> str:
    return str(((schema.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name") or "")


def _set_dangling_condition(call: Call, schema: Object) -> None:
    level, exists = _level_of(schema), True
    try:
        call.objects.get(_LEVELS, level)
    except NotFound:
        exists = False
    status = dict(schema.get("status") or {})
    others = [item for item in status.get("conditions") or () if item.get("type") != "Dangling"]
    now = format_time(call.clock.now())
    schema["status"] = {**status, "conditions": [*others, dangling_condition(level, now, exists=exists)]}
