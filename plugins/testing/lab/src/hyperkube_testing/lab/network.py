"""Cables and addresses of the laboratory.

::

    outside 203.0.113.10 ---- lan ---- br0 192.168.77.0/24 ---- node-1 .11, node-2 .12, … other places .100, .101, …

``lan`` is the router of the link and stands for everything that is not the cluster; ``outside`` is behind it. Node N
has the pod ranges 10.244.N.0/24 and fd00:10:244:N::/64; ``lan`` and the other nodes route them to it. IPv6 has the same
shape: fd00:77::/64 and fd00:203::10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperkube_testing.lab.place import Place

LAN_GATEWAYS = ("192.168.77.1", "fd00:77::1")
OUTSIDE = ("203.0.113.10", "fd00:203::10")
_OUTSIDE_GATEWAYS = ("203.0.113.1", "fd00:203::1")


def pod_ranges(number: int) -> tuple[str, str]:
    """Return the IPv4 and IPv6 ranges of a node's pods."""
    return f"10.244.{number}.0/24", f"fd00:10:244:{number}::/64"


def lay_lan(lan: Place) -> None:
    """Make the bridge."""
    four, six = LAN_GATEWAYS
    lan.ip_batch(
        [
            "link add br0 type bridge forward_delay 0",
            "link set br0 up",
            f"addr add {four}/24 dev br0",
            f"addr add {six}/64 dev br0 nodad",
        ]
    )
    lan.ip, lan.ip6 = four, six


def join_lan(lan: Place, place: Place, number: int) -> None:
    """Connect a place with the bridge: 192.168.77.NUMBER and fd00:77::NUMBER on ``eth0``."""
    four, six = f"192.168.77.{number}", f"fd00:77::{number}"
    cable = f"port{number}"
    lan.ip_batch(
        [
            f"link add {cable} type veth peer name eth0 netns {place.pid}",
            f"link set {cable} master br0 up",
            f"link set {cable} type bridge_slave hairpin on",
        ]
    )
    _address(place, (f"{four}/24", f"{six}/64"), LAN_GATEWAYS)
    place.ip, place.ip6 = four, six


def join_outside(lan: Place, outside: Place) -> None:
    """Connect the place that is not on the link."""
    four, six = _OUTSIDE_GATEWAYS
    lan.ip_batch(
        [
            f"link add outside type veth peer name eth0 netns {outside.pid}",
            "link set outside up",
            f"addr add {four}/24 dev outside",
            f"addr add {six}/64 dev outside nodad",
        ]
    )
    _address(outside, (f"{OUTSIDE[0]}/24", f"{OUTSIDE[1]}/64"), _OUTSIDE_GATEWAYS)
    outside.ip, outside.ip6 = OUTSIDE


def route_pods(place: Place, node: Place, number: int) -> None:
    """Let a place send what is for a node's pods to that node."""
    four, six = pod_ranges(number)
    place.ip_batch([f"route add {four} via {node.ip}", f"route add {six} via {node.ip6}"])


def _address(place: Place, addresses: Sequence[str], gateways: Sequence[str]) -> None:
    place.ip_batch(
        [
            "link set eth0 up",
            *(f"addr add {address} dev eth0 {'nodad' if ':' in address else ''}" for address in addresses),
            *(f"route add default via {gateway}" for gateway in gateways),
        ]
    )
