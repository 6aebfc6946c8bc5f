"""What allocators read from nodes, and write to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperkube.client.actions import Patch, perform
from hyperkube.client.client import Client
from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of

NETWORK_UNAVAILABLE: Final = "NetworkUnavailable"
ROUTE_CREATED: Final = "RouteCreated"


def ranges_of(node: Object) -> list[str]:
    """Return the ranges that a node has."""
    spec = node.get("spec") or {}
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def has_network(node: Object) -> bool:
    """Tell whether a node has ranges, and its network is said to be there."""
    found = condition(node.get("status") or {}, NETWORK_UNAVAILABLE)
    return bool(ranges_of(node)) and found is not None and found["status"] == "False"


def provider_id_missing(node: Object) -> str:
    """Return why a cloud cannot be asked of a node that has no provider id yet, empty if it has."""
    has = (node.get("spec") or {}).get("providerID")
    return "" if has else f"node {name_of(node)} doesn't have providerID"


def write_ranges(client: Client, node: Object, ranges: Sequence[str]) -> None:
    """Give a node its ranges; nothing if it has them."""
    if ranges_of(node) != list(ranges):
        perform(client, None, [Patch(NODES, name_of(node), {"spec": {"podCIDR": ranges[0], "podCIDRs": list(ranges)}})])


def write_network_available(client: Client, clock: Clock, node: Object, message: str) -> None:
    """Say of a node that its network is there: the cloud's own routes lead to its ranges."""
    there = {"type": NETWORK_UNAVAILABLE, "status": "False", "reason": ROUTE_CREATED, "message": message}
    conditions = with_condition((node.get("status") or {}).get("conditions") or (), there, clock.now())
    patch = {"status": {"conditions": conditions}}
    perform(client, None, [Patch(NODES, name_of(node), patch, subresource="status")])
