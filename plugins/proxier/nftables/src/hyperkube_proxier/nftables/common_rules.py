"""What does not belong to a service: the chains at the kernel's hooks, the sets and maps, and the rules that use them.

Source: kubernetes ``pkg/proxy/nftables/proxier.go`` (nftablesBaseChains, nftablesJumpChains, setupNFTables).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.local_detector import LocalDetector
from hyperkube_proxier.nftables.names import (
    CLUSTER_IPS,
    CLUSTER_IPS_CHECK,
    FIREWALL_CHECK,
    FIREWALL_IPS,
    HAIRPIN_CONNECTIONS,
    MASQUERADING,
    NO_ENDPOINT_NODEPORTS,
    NO_ENDPOINT_SERVICES,
    NODEPORT_ENDPOINTS_CHECK,
    NODEPORT_IPS,
    REJECT,
    SERVICE_ENDPOINTS_CHECK,
    SERVICE_IPS,
    SERVICE_NODEPORTS,
    SERVICES,
)

from hyperkube.hookspecs.proxier import IPFamily

BASE_CHAINS: Mapping[str, str] = {
    # What is filtered by the address that was asked for must be before the translation of addresses.
    "filter-prerouting-pre-dnat": "type filter hook prerouting priority -110 ;",
    "filter-output-pre-dnat": "type filter hook output priority -110 ;",
    "filter-input": "type filter hook input priority 0 ;",
    "filter-forward": "type filter hook forward priority 0 ;",
    "filter-output": "type filter hook output priority 0 ;",
    "nat-prerouting": "type nat hook prerouting priority -100 ;",
    "nat-output": "type nat hook output priority -100 ;",
    "nat-postrouting": "type nat hook postrouting priority 100 ;",
}
_JUMPS: Mapping[str, tuple[str, ...]] = {
    "filter-prerouting-pre-dnat": (f"ct state new jump {FIREWALL_CHECK}",),
    "filter-output-pre-dnat": (f"ct state new jump {FIREWALL_CHECK}",),
    "filter-input": (
        f"ct state new jump {NODEPORT_ENDPOINTS_CHECK}",
        f"ct state new jump {SERVICE_ENDPOINTS_CHECK}",
    ),
    "filter-forward": (f"ct state new jump {SERVICE_ENDPOINTS_CHECK}", f"ct state new jump {CLUSTER_IPS_CHECK}"),
    "filter-output": (f"ct state new jump {SERVICE_ENDPOINTS_CHECK}", f"ct state new jump {CLUSTER_IPS_CHECK}"),
    "nat-prerouting": (f"jump {SERVICES}",),
    "nat-output": (f"jump {SERVICES}",),
    "nat-postrouting": (f"jump {MASQUERADING}",),
}
_ADDRESSES: Mapping[str, str] = {
    CLUSTER_IPS: "Active ClusterIPs",
    NODEPORT_IPS: "IPs that accept NodePort traffic",
}
_SERVICE_MAPS: Mapping[str, str] = {
    NO_ENDPOINT_SERVICES: "vmap to drop or reject packets to services with no endpoints",
    FIREWALL_IPS: "destinations that are subject to LoadBalancerSourceRanges",
    SERVICE_IPS: "ClusterIP, ExternalIP and LoadBalancer IP traffic",
}
_NODEPORT_MAPS: Mapping[str, str] = {
    NO_ENDPOINT_NODEPORTS: "vmap to drop or reject packets to service nodeports with no endpoints",
    SERVICE_NODEPORTS: "NodePort traffic",
}
COMMENTS: Mapping[str, str] = {REJECT: "helper for @no-endpoint-services / @no-endpoint-nodeports"}
"""Chains that say what they are for."""
MAPS = frozenset({*_SERVICE_MAPS, *_NODEPORT_MAPS})


class CommonContext(NamedTuple):
    """What the common rules of a family depend on.

    Attributes:
        mark: the packet mark of masquerading.
        detector: how local traffic is told.
        node_port_ips: the addresses that node ports are open on; None for every address of the node.
        service_cidrs: the ranges of cluster IPs.
    """

    family: IPFamily
    mark: int
    detector: LocalDetector
    node_port_ips: tuple[str, ...] | None
    service_cidrs: tuple[str, ...] = ()
    masquerade_all: bool = False

    @property
    def ip(self) -> str:
        """What the family is called in rules."""
        return ip_word(self.family)


def ip_word(family: IPFamily) -> str:
    """Return what a family is called in rules, and its tables by."""
    return "ip6" if family == "IPv6" else "ip"


def address_type(family: IPFamily) -> str:
    """Return the type of a family's addresses in sets."""
    return "ipv6_addr" if family == "IPv6" else "ipv4_addr"


def containers(context: CommonContext) -> dict[str, str]:
    """Return the definitions of the sets and maps that services share."""
    address = address_type(context.family)
    found = {
        HAIRPIN_CONNECTIONS: _container(
            f"{address} . {address} . inet_proto . inet_service", "service hairpin connections"
        )
    }
    found |= {name: _container(address, comment) for name, comment in _ADDRESSES.items()}
    if context.node_port_ips is None:
        del found[NODEPORT_IPS]
    service, node_port = f"{address} . inet_proto . inet_service : verdict", "inet_proto . inet_service : verdict"
    found |= {name: _container(service, comment) for name, comment in _SERVICE_MAPS.items()}
    return found | {name: _container(node_port, comment) for name, comment in _NODEPORT_MAPS.items()}


def common_chains(context: CommonContext) -> dict[str, Sequence[str]]:
    """Return the chains that services share, each with its rules."""
    return {
        **_JUMPS,
        NODEPORT_ENDPOINTS_CHECK: (_node_port_rule(context, NO_ENDPOINT_NODEPORTS, is_local=True),),
        SERVICE_ENDPOINTS_CHECK: (_service_rule(context, NO_ENDPOINT_SERVICES),),
        FIREWALL_CHECK: (_service_rule(context, FIREWALL_IPS),),
        CLUSTER_IPS_CHECK: _cluster_ips_rules(context),
        SERVICES: (
            *_masquerade_rules(context),
            _service_rule(context, SERVICE_IPS),
            _node_port_rule(context, SERVICE_NODEPORTS),
        ),
        MASQUERADING: _masquerading_rules(context),
        REJECT: ("reject",),
    }


def mark_for_masquerade(mark: int) -> str:
    """Return the statement that has a packet masqueraded when it leaves."""
    return f"mark set mark or {mark:#010x}"


def _container(kind: str, comment: str) -> str:
    return f'type {kind} ; comment "{comment}" ;'


def _service_rule(context: CommonContext, name: str) -> str:
    return f"{context.ip} daddr . meta l4proto . th dport vmap @{name}"


def _node_port_rule(context: CommonContext, name: str, *, is_local: bool = False) -> str:
    """Return the rule of node ports, which are never open on loopback.

    Args:
        context: says where they are open.
        name: the map to look them up in.
        is_local: whether only packets to the node itself come here anyway.
    """
    ip = context.ip
    if context.node_port_ips is not None:
        return f"{ip} daddr @{NODEPORT_IPS} meta l4proto . th dport vmap @{name}"
    loopback = "::1" if context.family == "IPv6" else "127.0.0.0/8"
    local = "" if is_local else "fib daddr type local "
    return f"{local}{ip} daddr != {loopback} meta l4proto . th dport vmap @{name}"


def _masquerade_rules(context: CommonContext) -> tuple[str, ...]:
    """Return the rules for traffic to cluster IPs that may leave for another node, to be answered through this one."""
    start, mark = f"{context.ip} daddr @{CLUSTER_IPS}", mark_for_masquerade(context.mark)
    if context.masquerade_all:
        return (f'{start} {mark} comment "masquerade all clusterIP traffic"',)
    if context.detector:
        foreign = context.detector.nft(local=False)
        return (f'{start} {foreign} {mark} comment "masquerade clusterIP traffic from outside cluster"',)
    return ()


def _masquerading_rules(context: CommonContext) -> tuple[str, ...]:
    ip, mark = context.ip, f"{context.mark:#010x}"
    hairpin = f"{ip} saddr . {ip} daddr . meta l4proto . th dport @{HAIRPIN_CONNECTIONS}"
    return (
        # The mark is taken off again: the packet may pass here once more, inside a tunnel's.
        f"mark and {mark} != 0 mark set mark xor {mark} masquerade fully-random",
        f"ct status dnat {hairpin} masquerade fully-random",
    )


def _cluster_ips_rules(context: CommonContext) -> tuple[str, ...]:
    """Return the rules for what was not translated: a port no service has, or an address no service has."""
    invalid = (
        f"{context.ip} daddr @{CLUSTER_IPS} reject"
        ' comment "Reject traffic to invalid ports of ClusterIPs"'
    )  # fmt: skip
    if not context.service_cidrs:
        return (invalid,)
    ranges = ", ".join(context.service_cidrs)
    return (invalid, f'{context.ip} daddr {{ {ranges} }} drop comment "Drop traffic to unallocated ClusterIPs"')
