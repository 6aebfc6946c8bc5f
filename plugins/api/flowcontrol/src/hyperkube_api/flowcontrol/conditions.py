"""The conditions of both kinds, and the condition ``Dangling`` of flow schemas.

Source: kubernetes pkg/apis/flowcontrol/validation/validation.go, apiserver pkg/util/flowcontrol/apf_controller.go
(syncFlowSchemaStatus).
"""

from __future__ import annotations

from hyperkube.machinery.field import ROOT, FieldError, duplicate, required
from hyperkube.machinery.objects import Object


def validate_conditions(obj: Object) -> list[FieldError]:
    """Check that conditions have types, all different."""
    path, seen, errors = ROOT.child("status", "conditions"), set[str](), list[FieldError]()
    for index, item in enumerate((obj.get("status") or {}).get("conditions") or ()):
        at, kind = path.index(index).child("type"), item.get("type") or ""
        if kind in seen:
            errors.append(duplicate(at, kind))
        seen.add(kind)
        if not kind:
            errors.append(required(at, "must not be empty"))
    return errors


def dangling_condition(level: str, now: str, *, exists: bool) -> Object:
    """Return the condition ``Dangling`` of a schema that names `level`."""
    found = "and it exists" if exists else "but there is no such object"
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "lastTransitionTime": now,
        "reason": "Found" if exists else "NotFound",
        "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {found}',
    }
