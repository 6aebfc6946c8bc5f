"""From whom a load balancer's addresses take traffic.

Source: kubernetes ``pkg/proxy/iptables/proxier.go`` and ``pkg/proxy/nftables/proxier.go`` (allowFromNode).
"""

from __future__ import annotations

import ipaddress

from hyperkube_lib.proxy_rules.families import of_family

from hyperkube.hookspecs.proxier import IPFamily, ProxyNode, ServicePort


def allowed_sources(port: ServicePort, node: ProxyNode, family: IPFamily) -> tuple[str, ...]:
    """Return the source ranges of a port, and its load balancer's addresses where a range has one of the node's.

    An address of the load balancer that is the node's own, too, is the source of what the node sends to it.
    """
    own = [ipaddress.ip_address(address) for address in of_family(node.ips, family)]
    includes_node = any(address in ipaddress.ip_network(each) for each in port.source_ranges for address in own)
    return (*port.source_ranges, *(port.load_balancer_ips if includes_node else ()))
