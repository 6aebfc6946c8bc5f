"""The table of services.

Source: kubernetes pkg/printers/internalversion/printers.go (printService).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def service_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name, type, addresses, ports and age; wide: the selector."""
    spec = cells.spec_of(obj)
    addresses = spec.get("clusterIPs") or []
    return [
        cells.name(obj),
        spec.get("type") or "",
        addresses[0] if addresses else cells.NONE,
        _external(spec, cells.status_of(obj)),
        _ports(spec),
        cells.age(obj, now),
        cells.labels(spec.get("selector")),
    ]


def balancer_addresses(status: Object) -> str:
    """Return the addresses that a load balancer reports, sorted."""
    ingress = (status.get("loadBalancer") or {}).get("ingress") or []
    found = {item.get("ip") or item.get("hostname") for item in ingress}
    return ",".join(sorted(filter(None, found)))


def _external(spec: Object, status: Object) -> str:
    own = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return cells.joined(own)
        case "LoadBalancer":
            balanced = balancer_addresses(status)
            if own:
                return ",".join([*filter(None, balanced.split(",")), *own])
            return balanced or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName") or "")
        case _:
            return cells.UNKNOWN


def _ports(spec: Object) -> str:
    pieces = []
    for port in spec.get("ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        pieces.append(f"{port.get('port')}{node}/{port.get('protocol')}")
    return cells.joined(pieces)
