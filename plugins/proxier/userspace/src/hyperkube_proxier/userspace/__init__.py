"""userspace: the proxier that needs nothing from the kernel but sockets.

It listens on each service address itself and relays every connection to one of the backends. That works for an
ordinary user as far as the addresses are local (all of 127.0.0.0/8 is) and the ports are not privileged; root makes
other cluster IPs addresses of the node as long as they are served. A port that needs a privilege is served at a
higher one; what cannot be bound at all is reported, so that the user is told the node port instead. Slower than
iptables, and the client's address is lost on the way; in exchange it runs anywhere.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from hyperkube_lib.proxy_rules.families import of_family
from hyperkube_lib.proxy_rules.node_port_addresses import node_port_addresses
from hyperkube_lib.proxy_rules.topology import categorize_endpoints
from hyperkube_proxier.userspace.balancer import Balancer
from hyperkube_proxier.userspace.listeners import ListenAddress, Listeners
from hyperkube_proxier.userspace.node_addresses import NodeAddresses, remove_all
from hyperkube_proxier.userspace.portals import Portal, Portals, can_have_portals
from hyperkube_proxier.userspace.settings import UserspaceSettings

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.proxier import IPFamily, ProxyState, ServicePort, ServicePortName, UnservedPort
from hyperkube.plugin import Plugin

__all__ = ["Userspace", "UserspaceProxier", "UserspaceSettings"]

_ANY = {"IPv4": "0.0.0.0", "IPv6": "::"}


class _Served(NamedTuple):
    """What is served in one IP family: who answers at an address, and for which port."""

    wanted: Mapping[ListenAddress, Balancer]
    owners: Mapping[ListenAddress, ServicePortName]
    balancers: Mapping[tuple[ServicePortName, bool], Balancer]


_NOTHING = _Served({}, {}, {})


class UserspaceProxier:
    """Keeps one listener per address and port; implements `hyperkube.hookspecs.proxier.Proxier`."""

    def __init__(self, settings: UserspaceSettings, monotonic: Callable[[], float]) -> None:
        self._settings = settings
        self._monotonic = monotonic
        self._served: dict[IPFamily, _Served] = {}
        self._listeners: Listeners | None = None
        self._addresses = NodeAddresses()
        self._portals = Portals() if can_have_portals() else None

    def sync(self, state: ProxyState) -> list[UnservedPort]:
        """Listen on exactly the addresses that these ports need; return the ports that could not be bound."""
        served, unserved = self._wanted(state)
        self._served[state.family] = served
        wanted = {address: balancer for each in self._served.values() for address, balancer in each.wanted.items()}
        if self._listeners is None:
            if not wanted:
                return unserved
            self._listeners = Listeners(self._settings, self._addresses.add, with_portals=self._portals is not None)
            self._listeners.start()
        failed = self._listeners.converge(wanted)
        self._addresses.keep({address.ip for address in wanted})
        failed |= self._open_portals(self._listeners.portals)
        return unserved + [
            UnservedPort(served.owners[address], reason)
            for address, reason in failed.items()
            if address in served.owners
        ]

    def _open_portals(self, ports: Mapping[ListenAddress, int]) -> dict[ListenAddress, str]:
        """Lead addresses that are not this machine's to where they are listened for; return those that could not be."""
        wanted = {Portal(address.protocol, address.ip, address.port): port for address, port in ports.items()}
        if self._portals is None or self._portals.keep(wanted):
            return {}
        return dict.fromkeys(ports, "iptables refused the rules that lead to the proxy")

    def _wanted(self, state: ProxyState) -> tuple[_Served, list[UnservedPort]]:
        """Return what to serve in a family, and the ports whose address another one has."""
        wanted: dict[ListenAddress, Balancer] = {}
        owners: dict[ListenAddress, ServicePortName] = {}
        balancers: dict[tuple[ServicePortName, bool], Balancer] = {}
        known = self._served.get(state.family, _NOTHING).balancers
        unserved = []
        node_addresses = self._node_addresses(state)
        for name, port in state.services.items():
            found = categorize_endpoints(port, state.node)
            for address, external in _listen_addresses(port, node_addresses):
                key = (name, external)
                if key not in balancers:
                    balancers[key] = known.get(key) or Balancer(self._monotonic)
                    is_local = port.external_local if external else port.internal_local
                    endpoints = found.local if is_local else found.cluster
                    balancers[key].update([(each.ip, each.port) for each in endpoints], port.affinity_seconds)
                if address in wanted:
                    owner = owners[address]
                    unserved.append(
                        UnservedPort(name, f"{address} is already served for {owner.namespace}/{owner.name}")
                    )
                elif balancers[key].backends:
                    wanted[address], owners[address] = balancers[key], name
        return _Served(wanted, owners, balancers), unserved

    def _node_addresses(self, state: ProxyState) -> list[str]:
        """Return where node ports are open; a plain address as it is, as all of 127.0.0.0/8 may be listened on."""
        plain = [each for each in self._settings.nodeport_addresses if _is_address(each)]
        ranges = [each for each in self._settings.nodeport_addresses if each not in plain]
        found = list(of_family(plain, state.family))
        if ranges or not plain:
            where = node_port_addresses(ranges, state.node, state.family)
            found += [_ANY[state.family]] if where.match_all else where.listen_addresses()
        return found

    def cleanup(self) -> None:
        """Do what `close` does, and remove the addresses that a proxy which was killed has left on the node."""
        self.close()
        remove_all()
        if self._portals is not None:
            self._portals.remove_all()

    def close(self) -> None:
        """Close all listeners and connections."""
        if self._listeners is not None:
            self._listeners.close()
            self._listeners = None
            self._served.clear()
            self._addresses.keep(())
            if self._portals is not None:
                self._portals.keep({})


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _listen_addresses(port: ServicePort, node_addresses: Sequence[str]) -> list[tuple[ListenAddress, bool]]:
    """Return where a port listens, and whether that is reached from outside the cluster."""
    found = [(ListenAddress(port.protocol, port.cluster_ip, port.port, of_cluster=True), False)]
    found += [
        (ListenAddress(port.protocol, ip, port.port), True) for ip in (*port.external_ips, *port.load_balancer_ips)
    ]
    if port.node_port:
        found += [(ListenAddress(port.protocol, ip, port.node_port), True) for ip in node_addresses]
    return found


class Userspace(Plugin):
    """Builds the proxier from the settings that its flags make."""

    @hookimpl
    def proxier_build(self) -> UserspaceProxier:
        """Return the proxier; it serves nothing yet."""
        return UserspaceProxier(self.settings(UserspaceSettings), self.context.clock.monotonic)
