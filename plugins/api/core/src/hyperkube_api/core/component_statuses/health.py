"""Component statuses: the health of the scheduler, the controller manager and the store (deprecated).

Source: kubernetes ``pkg/registry/core/componentstatus/rest.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object

COMPONENTS = ("controller-manager", "scheduler", "etcd-0")


def read_component_statuses(call: Call) -> Object:
    """Return one component's status, or all as ``{"items": [...]}``.

    Raises:
        NotFound: no component has the name.
    """
    if call.verb == "list":
        return {"items": [_status(call, name) for name in COMPONENTS]}
    if call.name not in COMPONENTS:
        raise NotFound.about(GroupResource("", "componentstatus"), call.name)
    return _status(call, call.name)


def _status(call: Call, name: str) -> Object:
    ask = call.services.component_health
    state, message = ("Unknown", "") if ask is None else _said(*ask(name))
    return {
        "apiVersion": "v1",
        "kind": "ComponentStatus",
        "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": state, "message": message}],
    }


def _said(healthy: bool, message: str) -> tuple[str, str]:
    return ("True" if healthy else "False"), message
