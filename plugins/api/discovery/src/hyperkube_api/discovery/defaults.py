"""Defaults of endpoint slices; in place and idempotent.

Source: kubernetes pkg/apis/discovery/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_endpoint_slice(endpoint_slice: Object) -> None:
    """Fill in the ports of an endpoint slice; an empty list is none."""
    for member in ("endpoints", "ports"):
        if not endpoint_slice.get(member):
            endpoint_slice[member] = None
    for port in endpoint_slice.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        if port.get("protocol") is None:
            port["protocol"] = "TCP"
