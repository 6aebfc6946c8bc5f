"""userspace: the proxier that needs nothing from the kernel but sockets.

It listens on each service address itself and relays every connection to one of the backends. That works for an
ordinary user as far as the addresses are local (all of 127.0.0.0/8 is) and the ports are not privileged; root makes
other cluster IPs addresses of the node as long as they are served. A port that needs a privilege is served at a
higher one; what cannot be bound at all is reported, so that the user is told the node port instead. Slower than
iptables, and the client's address is lost on the way; in exchange it runs anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hyperkube_proxier.userspace.balancer import Balancer
from hyperkube_proxier.userspace.listeners import ListenAddress, Listeners
from hyperkube_proxier.userspace.node_addresses import NodeAddresses, remove_all

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.proxier import ServicePort, ServicePortName, UnservedPort
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Userspace", "UserspaceProxier"]


class UserspaceProxier:
    """Keeps one listener per address and port; implements `hyperkube.hookspecs.proxier.Proxier`."""

    def __init__(
        self, node_addresses: Sequence[str], monotonic: Callable[[], float], *, unprivileged_port_offset: int = 0
    ) -> None:
        self._node_addresses = tuple(node_addresses) or ("0.0.0.0",)
        self._monotonic = monotonic
        self._port_offset = unprivileged_port_offset
        self._balancers: dict[tuple[ServicePortName, bool], Balancer] = {}
        self._listeners: Listeners | None = None
        self._addresses = NodeAddresses()

    def sync(self, services: Mapping[ServicePortName, ServicePort]) -> list[UnservedPort]:
        """Listen on exactly the addresses that these ports need; return the ports that could not be bound."""
        wanted: dict[ListenAddress, Balancer] = {}
        owners: dict[ListenAddress, ServicePortName] = {}
        balancers: dict[tuple[ServicePortName, bool], Balancer] = {}
        unserved = []
        for name, port in services.items():
            for address, external in self._listen_addresses(port):
                balancer = balancers.setdefault((name, external), self._balancer(name, port, external=external))
                if address in wanted:
                    owner = owners[address]
                    unserved.append(
                        UnservedPort(name, f"{address} is already served for {owner.namespace}/{owner.name}")
                    )
                elif balancer.backends:
                    wanted[address], owners[address] = balancer, name
        self._balancers = balancers
        if self._listeners is None:
            if not wanted:
                return unserved
            self._listeners = Listeners(self._addresses.add, self._port_offset)
            self._listeners.start()
        failed = self._listeners.converge(wanted)
        self._addresses.keep({address.ip for address in wanted})
        return unserved + [UnservedPort(owners[address], reason) for address, reason in failed.items()]

    def cleanup(self) -> None:
        """Do what `close` does, and remove the addresses that a proxy which was killed has left on the node."""
        self.close()
        remove_all()

    def close(self) -> None:
        """Close all listeners and connections."""
        if self._listeners is not None:
            self._listeners.close()
            self._listeners = None
            self._addresses.keep(())

    def _listen_addresses(self, port: ServicePort) -> list[tuple[ListenAddress, bool]]:
        """Return where a port listens, and whether that is reached from outside the cluster."""
        found = [(ListenAddress(port.protocol, ip, port.port, of_cluster=True), False) for ip in port.cluster_ips]
        found += [
            (ListenAddress(port.protocol, ip, port.port), True) for ip in (*port.external_ips, *port.load_balancer_ips)
        ]
        if port.node_port:
            found += [(ListenAddress(port.protocol, ip, port.node_port), True) for ip in self._node_addresses]
        return found

    def _balancer(self, name: ServicePortName, port: ServicePort, *, external: bool) -> Balancer:
        local_only = port.external_local if external else port.internal_local
        backends = [backend for backend in port.backends if backend.local or not local_only]
        balancer = self._balancers.get((name, external)) or Balancer(self._monotonic)
        balancer.update([(backend.ip, backend.port) for backend in backends], port.affinity_seconds)
        return balancer


class UserspaceSettings(Record):
    """Settings of the proxier.

    Attributes:
        nodeport_addresses: the addresses that node ports are opened on; none stands for all.
        unprivileged_port_offset: what is added to a port below 1024 that may not be bound; 0 leaves it unserved.
    """

    nodeport_addresses: tuple[str, ...] = ()
    unprivileged_port_offset: int = 10_000


class Userspace(Plugin):
    """Builds the proxier from ``--nodeport-addresses`` and ``--unprivileged-port-offset``."""

    @hookimpl
    def proxier_build(self) -> UserspaceProxier:
        """Return the proxier; it serves nothing yet."""
        settings = self.settings(UserspaceSettings)
        return UserspaceProxier(
            settings.nodeport_addresses,
            self.context.clock.monotonic,
            unprivileged_port_offset=settings.unprivileged_port_offset,
        )
