"""Whether a flow schema's level is there: told in its status.

Source: kubernetes apiserver ``pkg/util/flowcontrol/apf_controller.go`` (syncFlowSchemaStatus).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def condition(level: str, now: str, *, exists: bool) -> Object:
    """Return the condition ``Dangling`` of a schema that names `level`."""
    found = "and it exists" if exists else "but there is no such object"
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "lastTransitionTime": now,
        "reason": "Found" if exists else "NotFound",
        "message": f'This FlowSchema references the PriorityLevelConfiguration object named "{level}" {found}',
    }
