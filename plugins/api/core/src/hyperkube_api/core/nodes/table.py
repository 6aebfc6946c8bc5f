"""The table of nodes.

Source: kubernetes pkg/printers/internalversion/printers.go (printNode).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object, labels_of

ROLE_PREFIX = "node-role.kubernetes.io/"
ROLE_LABEL = "kubernetes.io/role"


def node_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name, status, roles, age and version; wide: addresses and what it runs on."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    info = status.get("nodeInfo") or {}
    return [
        cells.name(obj),
        _status(spec, status),
        cells.joined(roles(obj)),
        cells.age(obj, now),
        info.get("kubeletVersion") or "",
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or cells.UNKNOWN,
        _kernel(info),
        info.get("containerRuntimeVersion") or cells.UNKNOWN,
    ]


def _kernel(info: Object) -> str:
    """Return the version of the kernel and, where it is known, what it runs on."""
    version, architecture = str(info.get("kernelVersion") or cells.UNKNOWN), info.get("architecture")
    return f"{version} ({architecture})" if architecture else version


def _status(spec: Object, status: Object) -> str:
    ready = next((item for item in status.get("conditions") or () if item.get("type") == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if spec.get("unschedulable") else word


def roles(obj: Object) -> list[str]:
    """Return the roles that a node's labels name, sorted."""
    found: set[str] = set()
    for key, value in labels_of(obj).items():
        if key.startswith(ROLE_PREFIX) and len(key) > len(ROLE_PREFIX):
            found.add(key.removeprefix(ROLE_PREFIX))
        elif key == ROLE_LABEL and value:
            found.add(value)
    return sorted(found)


def _address(status: Object, kind: str) -> str:
    addresses = status.get("addresses") or ()
    return next((item.get("address") or "" for item in addresses if item.get("type") == kind), cells.NONE)
