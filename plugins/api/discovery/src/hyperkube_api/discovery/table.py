"""Table rows of endpoint slices, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_SHOWN = 3


def endpoint_slice_cells(obj: Object, now: datetime) -> list[Any]:
    """Return ports and addresses, the first few of each."""
    ports = obj.get("ports")
    addresses = [item for endpoint in obj.get("endpoints") or () for item in endpoint.get("addresses") or ()]
    return [
        cells.name(obj),
        obj.get("addressType") or "",
        _some([_port(item) for item in ports or ()]),
        _some(addresses),
        cells.age(obj, now),
    ]


def _port(port: Object) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return "*" if port.get("name") is None else str(port["name"])


def _some(values: list[str]) -> str:
    text = ",".join(values[:_SHOWN])
    return f"{text} + {len(values) - _SHOWN} more..." if len(values) > _SHOWN else text or cells.UNSET
