"""Which node answers for which address: all nodes come to the same choice, and few addresses move when one goes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from hyperkube.machinery.objects import Object, name_of, namespace_of

SERVICE_NAME = "kubernetes.io/service-name"


def addresses(service: Object) -> list[str]:
    """Return the addresses of a Service's balancer for which somebody has to answer."""
    if service["spec"].get("type") != "LoadBalancer":
        return []
    rows = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return [row["ip"] for row in rows if row.get("ip") and row.get("ipMode") != "Proxy"]


def key(service: Object) -> str:
    """Return ``NAMESPACE/NAME``."""
    return f"{namespace_of(service)}/{name_of(service)}"


def owner_key(piece: Object) -> str:
    """Return the key of the Service of an EndpointSlice."""
    return f"{namespace_of(piece)}/{(piece['metadata'].get('labels') or {}).get(SERVICE_NAME, '')}"


def nodes_with_endpoints(slices: Iterable[Object]) -> set[str]:
    """Return the nodes on which a Service has endpoints that are ready."""
    rows = [row for piece in slices for row in piece.get("endpoints") or ()]
    return {
        row["nodeName"]
        for row in rows
        if row.get("nodeName") and (row.get("conditions") or {}).get("ready") is not False
    }


def speaker(address: str, nodes: Iterable[str]) -> str:
    """Return the node that answers for an address; empty if there is none."""
    return max(nodes, key=lambda node: (hashlib.sha256(f"{node}#{address}".encode()).digest(), node), default="")


def own_addresses(
    node: str, alive: Sequence[str], services: Iterable[Object], slices: Mapping[str, Sequence[Object]]
) -> set[str]:
    """Return the addresses for which a node answers.

    Args:
        node: the node.
        alive: the nodes that could answer.
        services: all.
        slices: by the key of their Service; read where only nodes with endpoints may receive traffic.
    """
    found = set()
    for service in services:
        own = addresses(service)
        if not own:
            continue
        able: Iterable[str] = alive
        if service["spec"].get("externalTrafficPolicy") == "Local":
            able = nodes_with_endpoints(slices.get(key(service), ())) & set(alive)
        found |= {address for address in own if speaker(address, able) == node}
    return found
