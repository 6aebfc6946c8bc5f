"""Where node ports are open: ``--nodeport-addresses``.

Source: kubernetes ``pkg/proxy/util/nodeport_addresses.go``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.families import of_family
from hyperkube_lib.proxy_rules.interface_addresses import interface_addresses

from hyperkube.hookspecs.proxier import IPFamily, ProxyNode
from hyperkube.machinery.errors import UsageError

PRIMARY = "primary"
"""The word for the node's own address of a family."""
_EVERYWHERE = {"IPv4": "0.0.0.0/0", "IPv6": "::/0"}


class NodePortAddresses(NamedTuple):
    """The ranges that addresses of the node must be in, of one family."""

    family: IPFamily
    ranges: tuple[str, ...]

    @property
    def match_all(self) -> bool:
        """Whether node ports are open on every address."""
        return _EVERYWHERE[self.family] in self.ranges

    @property
    def contains_ipv4_loopback(self) -> bool:
        """Whether node ports may be open on loopback, as far as the kernel lets them."""
        loopback = ipaddress.ip_network("127.0.0.0/8")
        return self.family == "IPv4" and any(_network(each).overlaps(loopback) for each in self.ranges)

    def addresses(self, own: Iterable[str] | None = None) -> list[str]:
        """Return the node's addresses that node ports are open on.

        Args:
            own: all addresses of the node; None for those of its interfaces now.
        """
        networks = [_network(each) for each in self.ranges]
        if own is None:
            own = interface_addresses(self.family)
        found = [ipaddress.ip_address(each) for each in of_family(own, self.family)]
        return [str(address) for address in dict.fromkeys(found) if any(address in network for network in networks)]

    def listen_addresses(self) -> list[str]:
        """Return those that a program can listen on: link-local ones of IPv6 say nothing without their interface."""
        return [
            each for each in self.addresses() if self.family == "IPv4" or not ipaddress.ip_address(each).is_link_local
        ]


def node_port_addresses(values: Sequence[str], node: ProxyNode, family: IPFamily) -> NodePortAddresses:
    """Return where node ports of one family are open; nothing given for a family stands for every address.

    Raises:
        UsageError: a value is no range.
    """
    if list(values) == [PRIMARY]:
        return NodePortAddresses(family, of_family(node.ips, family))
    for value in values:
        try:
            _network(value)
        except ValueError:
            raise UsageError(f"--nodeport-addresses: {value!r} is neither an address nor a range") from None
    ranges = of_family(values, family)
    return NodePortAddresses(family, ranges or (_EVERYWHERE[family],))


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text, strict=False)
