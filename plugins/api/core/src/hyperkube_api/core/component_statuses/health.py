"""Component statuses: the health of the scheduler, the controller manager and the store (deprecated).

In one process the parts that answer at all are healthy; the store is asked by every read before this one.
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
        return {"items": [_status(name) for name in COMPONENTS]}
    if call.name not in COMPONENTS:
        raise NotFound.about(GroupResource("", "componentstatus"), call.name)
    return _status(call.name)


def _status(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ComponentStatus",
        "metadata": {"name": name},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    }
