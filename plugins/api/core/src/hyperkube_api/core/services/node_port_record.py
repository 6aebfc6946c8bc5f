"""The record of the node ports that are taken, which all API servers on one store share.

Source of its shape: kubernetes ``pkg/registry/core/rangeallocation``, ``…/core/service/allocator/bitmap.go``.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable

from hyperkube.machinery.objects import Object

KEY = "ranges/servicenodeports"
"""Below the store's root."""


def read_ports(record: Object | None, low: int, high: int) -> set[int] | None:
    """Return the ports that a record says are taken; None when there is none for this range."""
    if record is None or record.get("range") != f"{low}-{high}":
        return None
    bits = int.from_bytes(b64decode(record.get("data") or ""), "big")
    return {low + offset for offset in range(high - low + 1) if bits >> offset & 1}


def write_ports(ports: Iterable[int], low: int, high: int) -> Object:
    """Return the record that says that these ports are taken; those outside the range are left out."""
    bits = 0
    for port in ports:
        if low <= port <= high:
            bits |= 1 << (port - low)
    data = b64encode(bits.to_bytes((bits.bit_length() + 7) // 8, "big")).decode()
    return {
        "kind": "RangeAllocation",
        "apiVersion": "v1",
        "metadata": {},
        "range": f"{low}-{high}",
        "data": data,
    }
