"""The rules that do not belong to a service: jumps from the kernel's chains, masquerading, forwarding, node ports.

Source: kubernetes ``pkg/proxy/iptables/proxier.go`` (iptablesJumpChains, syncProxyRules).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperkube_proxier.iptables.chains import (
    EXTERNAL_SERVICES,
    FORWARD,
    KUBELET_FIREWALL,
    MARK_MASQ,
    NODE_PORTS,
    POSTROUTING,
    PROXY_FIREWALL,
    SERVICES,
)

from hyperkube.hookspecs.proxier import IPFamily

INVALID_DROPPED = "ct_state_invalid_dropped_pkts"
"""The kernel's counter of packets that belong to no connection."""
FILTER_CHAINS = (SERVICES, EXTERNAL_SERVICES, FORWARD, NODE_PORTS, PROXY_FIREWALL)
NAT_CHAINS = (SERVICES, NODE_PORTS, POSTROUTING, MARK_MASQ)
"""Chains with rules of the proxy alone, by table."""
_NEW = "-m conntrack --ctstate NEW "


class Jump(NamedTuple):
    """A rule in a chain of the kernel's that leads to one of ours."""

    table: str
    source: str
    target: str
    comment: str
    match: str = ""

    @property
    def rule(self) -> str:
        """The rule as ``iptables-save`` shows it, without the chain it is in."""
        comment = f'-m comment --comment "{self.comment}" ' if self.comment else ""
        return f"{self.match}{comment}-j {self.target}"


JUMPS = (
    Jump("filter", "INPUT", EXTERNAL_SERVICES, "kubernetes externally-visible service portals", _NEW),
    Jump("filter", "FORWARD", EXTERNAL_SERVICES, "kubernetes externally-visible service portals", _NEW),
    Jump("filter", "INPUT", NODE_PORTS, "kubernetes health check service ports"),
    Jump("filter", "FORWARD", SERVICES, "kubernetes service portals", _NEW),
    Jump("filter", "OUTPUT", SERVICES, "kubernetes service portals", _NEW),
    Jump("filter", "FORWARD", FORWARD, "kubernetes forwarding rules"),
    Jump("filter", "INPUT", PROXY_FIREWALL, "kubernetes load balancer firewall", _NEW),
    Jump("filter", "OUTPUT", PROXY_FIREWALL, "kubernetes load balancer firewall", _NEW),
    Jump("filter", "FORWARD", PROXY_FIREWALL, "kubernetes load balancer firewall", _NEW),
    Jump("nat", "OUTPUT", SERVICES, "kubernetes service portals"),
    Jump("nat", "PREROUTING", SERVICES, "kubernetes service portals"),
    Jump("nat", "POSTROUTING", POSTROUTING, "kubernetes postrouting rules"),
)
"""In the order in which they are put first: the last one of a chain comes first in it."""
KUBELET_JUMPS = (
    Jump("filter", "INPUT", KUBELET_FIREWALL, ""),
    Jump("filter", "OUTPUT", KUBELET_FIREWALL, ""),
)
"""What the kubelet makes too; it stays when the proxy cleans up."""


def masquerade_rules(mark: int) -> list[str]:
    """Return the rules that mark packets, and hide the source of those that are marked."""
    return [
        f"-A {POSTROUTING} -m mark ! --mark {mark:#x}/{mark:#x} -j RETURN",
        # The mark goes, so that a packet that comes through the stack again is not masqueraded twice.
        f"-A {POSTROUTING} -j MARK --xor-mark {mark:#x}",
        (
            f'-A {POSTROUTING} -m comment --comment "kubernetes service traffic requiring SNAT"'
            " -j MASQUERADE --random-fully"
        ),
        mark_rule(mark),
    ]


def mark_rule(mark: int) -> str:
    """Return the rule that marks a packet to be masqueraded."""
    return f"-A {MARK_MASQ} -j MARK --or-mark {mark:#x}"


def localnet_rule() -> str:
    """Return the rule that keeps packets from outside off loopback, which node ports there would let in."""
    return (
        f'-A {KUBELET_FIREWALL} -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8'
        " ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP"
    )


def forward_rules(mark: int, *, drops_invalid: bool, counts_invalid: bool) -> Iterator[str]:
    """Yield the rules that let translated packets through, whatever the policy of forwarding is.

    Args:
        mark: the packet mark of masquerading.
        drops_invalid: whether packets that belong to no connection are dropped: they would reset one.
        counts_invalid: whether these are counted.
    """
    if drops_invalid:
        counted = f" -m nfacct --nfacct-name {INVALID_DROPPED}" if counts_invalid else ""
        yield f"-A {FORWARD} -m conntrack --ctstate INVALID{counted} -j DROP"
    yield (
        f'-A {FORWARD} -m comment --comment "kubernetes forwarding rules" -m mark --mark {mark:#x}/{mark:#x} -j ACCEPT'
    )
    yield (
        f'-A {FORWARD} -m comment --comment "kubernetes forwarding conntrack rule"'
        " -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"
    )


def node_port_rules(family: IPFamily, addresses: Iterable[str] | None, *, localhost: bool) -> Iterator[str]:
    """Yield the rules that lead to node ports; they must come after those of all services.

    Args:
        family: of the addresses.
        addresses: those that node ports are open on; None for every address of the node.
        localhost: whether loopback is among them; with IPv6 it never is.
    """
    note = "kubernetes service nodeports; NOTE: this must be the last rule in this chain"
    start = f'-A {SERVICES} -m comment --comment "{note}"'
    if addresses is not None:
        for address in addresses:
            yield f"{start} -d {address} -j {NODE_PORTS}"
        return
    closed = " ! -d ::1/128" if family == "IPv6" else "" if localhost else " ! -d 127.0.0.0/8"
    yield f"{start} -m addrtype --dst-type LOCAL{closed} -j {NODE_PORTS}"
