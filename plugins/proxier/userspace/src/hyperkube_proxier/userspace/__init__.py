"""userspace: the proxier that needs nothing from the kernel but sockets.

It listens on each service address itself and relays every connection to one of the backends. That works for an
ordinary user as far as the addresses are local (all of 127.0.0.0/8 is) and the ports are not privileged; what cannot
be bound is reported, so that the user learns of the node port instead. Slower than iptables, and the client's address
is lost on the way; in exchange it runs anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperkube_proxier.userspace.balancer import Balancer
from hyperkube_proxier.userspace.listeners import Listeners, Place

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.proxier import ServicePort, ServicePortName
from hyperkube.plugin import Plugin

__all__ = ["Userspace", "UserspaceProxier"]


class UserspaceProxier:
    """Keeps one listener per address and port; implements `hyperkube.hookspecs.proxier.Proxier`."""

    def __init__(self, node_addresses: Sequence[str], monotonic: Any) -> None:
        self._node_addresses = tuple(node_addresses) or ("0.0.0.0",)
        self._monotonic = monotonic
        self._balancers: dict[tuple[ServicePortName, bool], Balancer] = {}
        self._listeners: Listeners | None = None

    def sync(self, services: Mapping[ServicePortName, ServicePort]) -> list[str]:
        """Listen on exactly the places these ports need; return a line per place that could not be bound."""
        wanted: dict[Place, Balancer] = {}
        owners: dict[Place, ServicePortName] = {}
        balancers: dict[tuple[ServicePortName, bool], Balancer] = {}
        lines = []
        for name, port in services.items():
            for place, external in self._places(port):
                balancer = balancers.setdefault((name, external), self._balancer(name, port, external=external))
                if place in wanted:
                    lines.append(
                        _line(name, f"{place} is already served for {owners[place].namespace}/{owners[place].name}")
                    )
                elif balancer.backends:
                    wanted[place], owners[place] = balancer, name
        self._balancers = balancers
        if self._listeners is None:
            if not wanted:
                return lines
            self._listeners = Listeners()
            self._listeners.start()
        refused = self._listeners.converge(wanted)
        return lines + [_line(owners[place], why) for place, why in refused.items()]

    def cleanup(self) -> None:
        """Nothing outlives the process."""
        self.close()

    def close(self) -> None:
        """Close all listeners and connections."""
        if self._listeners is not None:
            self._listeners.close()
            self._listeners = None

    def _places(self, port: ServicePort) -> list[tuple[Place, bool]]:
        """Return where a port listens, and whether that is reached from outside the cluster."""
        places = [(Place(port.protocol, ip, port.port), False) for ip in port.cluster_ips]
        places += [(Place(port.protocol, ip, port.port), True) for ip in (*port.external_ips, *port.load_balancer_ips)]
        if port.node_port:
            places += [(Place(port.protocol, ip, port.node_port), True) for ip in self._node_addresses]
        return places

    def _balancer(self, name: ServicePortName, port: ServicePort, *, external: bool) -> Balancer:
        local_only = port.external_local if external else port.internal_local
        backends = [backend for backend in port.backends if backend.local or not local_only]
        balancer = self._balancers.get((name, external)) or Balancer(self._monotonic)
        balancer.update([(backend.ip, backend.port) for backend in backends], port.affinity_seconds)
        return balancer


def _line(name: ServicePortName, why: str) -> str:
    port = f":{name.port}" if name.port else ""
    return f"{name.namespace}/{name.name}{port}: {why}"


class Userspace(Plugin):
    """Builds the proxier from ``--nodeport-addresses``."""

    @hookimpl
    def proxier_build(self) -> UserspaceProxier:
        """Return the proxier; it serves nothing yet."""
        addresses = self.context.options.get("nodeport-addresses") or ()
        return UserspaceProxier(addresses, self.context.clock.monotonic)
