"""Which routes a node needs to the pods of the others: decided from the Node objects, without looking at the machine.

A node on the same link is the next hop to its pods. To any other, packets travel inside UDP packets (VXLAN, RFC 7348):
the device's hardware address on each node follows from the node's address, so that no node has to ask another.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of

VXLAN = "hyperkube.vxlan"
VXLAN_ID = 4096
VXLAN_PORT = 4789
VXLAN_OVERHEAD = 70
"""What the packet around it takes of the link's MTU: Ethernet, IPv6, UDP and VXLAN headers."""


@dataclass(frozen=True, slots=True)
class Route:
    """A range of pods, and by which node it is reached: directly, or through the tunnel."""

    cidr: str
    node: str
    tunnel: bool = False


def wanted_routes(nodes: Iterable[Object], own: str, on_link: Callable[[str], bool]) -> frozenset[Route]:
    """Return the routes of the node named `own`; `on_link` tells whether an address is reached without a router.

    A range of a family in which its node has no address of its own goes by the node's first one, through the tunnel.
    """
    found = set()
    for node in nodes:
        if name_of(node) == own:
            continue
        spec = node.get("spec") or {}
        addresses = internal_ips(node)
        for cidr in spec.get("podCIDRs") or [spec.get("podCIDR") or ""]:
            if not cidr or not addresses:
                continue
            same = [address for address in addresses if (":" in address) == (":" in cidr)]
            if same and on_link(same[0]):
                found.add(Route(cidr, same[0]))
            else:
                found.add(Route(cidr, (same or addresses)[0], tunnel=True))
    return frozenset(found)


def internal_ips(node: Object) -> list[str]:
    """Return the addresses by which other nodes reach a node."""
    entries = (node.get("status") or {}).get("addresses") or []
    return [entry["address"] for entry in entries if entry["type"] == "InternalIP"]


def hardware_address(ip: str) -> str:
    """Return the tunnel's hardware address on the node with this address: locally administered, from its last bytes."""
    last = ipaddress.ip_address(ip).packed[-4:]
    return ":".join(f"{byte:02x}" for byte in (0x0A, 0x58, *last))


def first_address(cidr: str) -> str:
    """Return the address that stands for a node in its tunnel: the first of its range, which no pod has."""
    return str(ipaddress.ip_network(cidr, strict=False).network_address)


def commands(before: frozenset[Route], after: frozenset[Route]) -> list[Sequence[str]]:
    """Return the lines of iproute2 that lead from some routes to others: first what goes, then what comes."""
    lines: list[Sequence[str]] = []
    for route in _sorted(before - after):
        lines.append(["ip", "route", "del", route.cidr, "proto", PROTOCOL])
        if route.tunnel and not any(one.tunnel and one.cidr == route.cidr for one in after):
            lines += _tunnel_entries(route, "del", "del")
    for route in _sorted(after - before):
        if not route.tunnel:
            lines.append(["ip", "route", "replace", route.cidr, "via", route.node, "proto", PROTOCOL])
            continue
        hop = first_address(route.cidr)
        lines += _tunnel_entries(route, "replace", "replace")
        lines.append(
            ["ip", "route", "replace", route.cidr, "via", hop, "dev", VXLAN, "onlink", "proto", PROTOCOL]
        )  # fmt: skip
    return lines


PROTOCOL = "114"
"""The mark of our routes among those of the kernel, so that the ones of an earlier run are known (rtnetlink(7))."""


def _sorted(routes: frozenset[Route]) -> list[Route]:
    return sorted(routes, key=lambda route: (route.cidr, route.node, route.tunnel))


def _tunnel_entries(route: Route, neighbour: str, forwarding: str) -> list[Sequence[str]]:
    mac, hop = hardware_address(route.node), first_address(route.cidr)
    return [
        ["ip", "neigh", neighbour, hop, "lladdr", mac, "dev", VXLAN, "nud", "permanent"],
        ["bridge", "fdb", forwarding, mac, "dev", VXLAN, "dst", route.node, "self", "permanent"],
    ]
