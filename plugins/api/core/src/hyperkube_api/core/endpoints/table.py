"""The table of endpoints.

Source: kubernetes pkg/printers/internalversion/printers.go (printEndpoints).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_SHOWN_ENDPOINTS = 3


def endpoints_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the first addresses."""
    return [cells.name(obj), _addresses(obj), cells.age(obj, now)]


def _addresses(obj: Object) -> str:
    """Return the first addresses with their ports; ``<none>`` is for an object without subsets alone."""
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        ports = subset.get("ports") or []
        for port in ports:
            for address in subset.get("addresses") or ():
                text = address.get("ip") or ""
                host = f"[{text}]" if ":" in text else text
                found.append(f"{host}:{port.get('port')}")
        if not ports:
            found += [address.get("ip") or "" for address in subset.get("addresses") or ()]
    text = ",".join(found[:_SHOWN_ENDPOINTS])
    if len(found) > _SHOWN_ENDPOINTS:
        return f"{text} + {len(found) - _SHOWN_ENDPOINTS} more..."
    return text if obj.get("subsets") else cells.NONE
