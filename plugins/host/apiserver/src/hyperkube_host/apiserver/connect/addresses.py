"""Which addresses the proxies of nodes, pods and services may lead to: global unicast ones alone.

This server's own machine, and what clouds tell their machines at link-local addresses, are not for its clients. Where
pods are processes of this machine their addresses are loopback ones all the same: those of a cluster's slice are
allowed, and nothing beside it.
Source: kubernetes ``pkg/proxy/util/utils.go`` (IsProxyableIP, IsProxyableHostname).
"""

from __future__ import annotations

import ipaddress
import socket

from hyperkube_host.apiserver.options import Options
from hyperkube_lib.loopback_slices import FIRST, LAST

from hyperkube.machinery.errors import BadRequest

_SLICE_BITS = 16


def check_proxyable(host: str, options: Options) -> str:
    """Return the address of a host that may be proxied to; the connection goes to that and is not looked up again.

    Raises:
        BadRequest: one of its addresses may not, or it has none.
    """
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError) as error:
        raise BadRequest(f"lookup {host}: no such host") from error
    if not host or not all(is_proxyable(address, options) for address in found):
        raise BadRequest("address not allowed")
    return host if _parsed(host) is not None else min(found, key=lambda text: (":" in text, text))


def is_proxyable(text: str, options: Options) -> bool:
    """Tell whether an IP address may be proxied to; what is none may not."""
    address = _parsed(text)
    if address is None:
        return False
    if address.is_loopback:
        return _is_in_slice(address, options)
    special = address.is_unspecified or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address; one of version 4 in the clothes of version 6 as what it is."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _is_in_slice(address: ipaddress.IPv4Address | ipaddress.IPv6Address, options: Options) -> bool:
    """Tell whether a loopback address is one of the cluster's pods.

    A local cluster's services are in the slice of its pods; with services elsewhere it may be any slice, of which none
    holds what listens on this machine for itself.
    """
    services = ipaddress.ip_network(options.control_plane.service_cluster_ip_range.partition(",")[0], strict=False)
    if isinstance(services, ipaddress.IPv4Network) and services.is_loopback and services.prefixlen >= _SLICE_BITS:
        return address in services.supernet(new_prefix=_SLICE_BITS)
    return isinstance(address, ipaddress.IPv4Address) and FIRST <= address.packed[1] <= LAST
