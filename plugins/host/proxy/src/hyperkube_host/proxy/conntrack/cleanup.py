"""Which tracked connections of UDP are stale: those that lead to what is no endpoint of their service any more.

UDP has no end of a connection: as long as a client sends from one port, the kernel translates its packets as it did
the first one.
Source: kubernetes ``pkg/proxy/conntrack/cleanup.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperkube_host.proxy.conntrack.netlink import Entry

from hyperkube.hookspecs.proxier import ServicePort

Backends = frozenset[tuple[str, int]]


def stale_entries(entries: Iterable[Entry], ports: Iterable[ServicePort]) -> list[Entry]:
    """Return the entries of a service's address whose reply comes from none of its serving endpoints.

    A service without any keeps its connections, as it does with TCP; and traffic policies do not count.
    """
    by_address, by_node_port = _backends(ports)
    stale = []
    for entry in entries:
        backends = by_address.get((entry.destination, entry.destination_port))
        if backends is None:
            backends = by_node_port.get(entry.destination_port)
        if backends and (entry.reply_source, entry.reply_source_port) not in backends:
            stale.append(entry)
    return stale


def _backends(
    ports: Iterable[ServicePort],
) -> tuple[Mapping[tuple[str, int], Backends], Mapping[int, Backends]]:
    """Return the serving endpoints behind each address and port, and behind each node port."""
    by_address: dict[tuple[str, int], Backends] = {}
    by_node_port: dict[int, Backends] = {}
    for port in ports:
        if port.protocol != "UDP":
            continue
        backends = frozenset((endpoint.ip, endpoint.port) for endpoint in port.endpoints if endpoint.serving)
        for address in (port.cluster_ip, *port.external_ips, *port.load_balancer_ips):
            by_address[address, port.port] = backends
        if port.node_port:
            by_node_port[port.node_port] = backends
    return by_address, by_node_port
