"""local: load balancers on one machine or one network, where no cloud makes any.

A Service gets an address of a range, which the addon ``load-balancer-announcer`` makes known on the network, or the
addresses of the nodes themselves, on which its ports are then open. In both cases the nodes' proxies do the balancing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from hyperkube_cloud.local.addresses import AddressPool

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

__all__ = ["Local"]

PROVIDER = "local"
_ADDRESS_TYPES = ("ExternalIP", "InternalIP")
_VERSIONS = {"IPv4": 4, "IPv6": 6}


class NoAddress(HyperkubeError):
    """Nothing can be given to a Service: add addresses, or free those of another Service."""


class Settings(Record):
    """Which addresses are given away; none for the nodes' own."""

    load_balancer_addresses: tuple[str, ...] = ()


class Services:
    """All Services as far as balancers concern them: those of the API, and what was given away a moment ago."""

    def __init__(self, context: PluginContext) -> None:
        self._informer = context.informers.informer(SERVICES) if context.informers is not None else None
        self._given: dict[str, Object] = {}

    def give(self, service: Object, status: Object) -> None:
        """Remember a balancer that the API may not tell of yet."""
        self._given[uid_of(service)] = {**service, "status": {"loadBalancer": status}}

    def forget(self, service: Object) -> None:
        """Let go of what was given to a Service."""
        self._given.pop(uid_of(service), None)

    def status(self, service: Object) -> Object | None:
        """Return the balancer of a Service, None if it has none."""
        known = self._given.get(uid_of(service), service)
        balancer: Object = (known.get("status") or {}).get("loadBalancer") or {}
        return balancer if balancer.get("ingress") else None

    def others(self, service: Object) -> list[Object]:
        """Return the other Services that have a balancer."""
        known: dict[str, Object] = {
            uid_of(one): one for one in (self._informer.list() if self._informer is not None else ())
        }
        known.update(self._given)
        found = [one for uid, one in known.items() if uid != uid_of(service)]
        return [one for one in found if one["spec"].get("type") == "LoadBalancer" and self.status(one)]


class RangeBalancers:
    """An address of a range for each Service; implements `hyperkube.hookspecs.cloud.LoadBalancers`."""

    def __init__(self, pool: AddressPool, services: Services) -> None:
        self._pool = pool
        self._services = services
        self._lock = threading.Lock()

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the status if its addresses are of the range."""
        with self._lock:
            status = self._services.status(service)
            return status if status and all(address in self._pool for address in _addresses(status)) else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Return the addresses that the Service has or gets.

        Raises:
            NoAddress: none of the range is free, or the one that it asks for is not.
        """
        with self._lock:
            taken = {
                row for other in self._services.others(service) for row in _addresses(self._services.status(other))
            }
            held = _addresses(self._services.status(service))
            found = [self._address(service, version, taken, held) for version in _versions(service)]
            addresses = [address for address in found if address]
            if not addresses:
                raise NoAddress(f"no address is free in {self._pool} (--load-balancer-addresses)")
            status = {"ingress": [{"ip": address, "ipMode": "VIP"} for address in addresses]}
            self._services.give(service, status)
            return status

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Let the addresses be given to others."""
        with self._lock:
            self._services.forget(service)

    def _address(self, service: Object, version: int, taken: set[str], held: list[str]) -> str:
        """Return the Service's address of a family, empty if there is none for it."""
        wanted = service["spec"].get("loadBalancerIP") or ""
        if wanted and (6 if ":" in wanted else 4) == version:
            if wanted not in self._pool or wanted in taken:
                why = "taken" if wanted in taken else f"not in {self._pool}"
                raise NoAddress(f"address {wanted!r} is {why} (spec.loadBalancerIP)")
            return wanted
        for address in held:
            if address in self._pool and address not in taken and (6 if ":" in address else 4) == version:
                return address
        return self._pool.free(version, taken)


class NodeBalancers:
    """The nodes' own addresses for every Service; implements `hyperkube.hookspecs.cloud.LoadBalancers`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the status that the Service has."""
        with self._lock:
            return self._services.status(service)

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Return the nodes' addresses.

        Raises:
            NoAddress: another Service has one of the ports, or no node has an address.
        """
        with self._lock:
            ports = _ports(service)
            for other in self._services.others(service):
                for port, protocol in ports & _ports(other):
                    owner = f"{namespace_of(other)}/{name_of(other)}"
                    raise NoAddress(f"port {port}/{protocol} of the nodes is taken by Service {owner!r}")
            versions = _versions(service)
            found = [address for node in nodes for address in _node_addresses(node, versions)]
            if not found:
                raise NoAddress("no node has an address")
            status = {"ingress": [{"ip": address, "ipMode": "VIP"} for address in dict.fromkeys(found)]}
            self._services.give(service, status)
            return status

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Let the ports be given to others."""
        with self._lock:
            self._services.forget(service)


class Local(Plugin):
    """Offers load balancers."""

    def __init__(self, context: PluginContext) -> None:
        """Take the settings.

        Raises:
            UsageError: a range cannot be read.
        """
        super().__init__(context)
        self._pool = AddressPool(self.settings(Settings).load_balancer_addresses)
        self._services = Services(context)

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider."""
        balancers = RangeBalancers(self._pool, self._services) if self._pool else NodeBalancers(self._services)
        return Cloud(name=PROVIDER, load_balancers=balancers)


def _addresses(status: Object | None) -> list[str]:
    return [row["ip"] for row in (status or {}).get("ingress") or () if row.get("ip")]


def _versions(service: Object) -> list[int]:
    return [_VERSIONS[family] for family in service["spec"].get("ipFamilies") or ["IPv4"]]


def _ports(service: Object) -> set[tuple[int, str]]:
    return {(port["port"], port.get("protocol") or "TCP") for port in service["spec"].get("ports") or ()}


def _node_addresses(node: Object, versions: Sequence[int]) -> Iterable[str]:
    """Yield a node's addresses of some families, of the best type that it has any of."""
    rows = (node.get("status") or {}).get("addresses") or ()
    for kind in _ADDRESS_TYPES:
        found = [row["address"] for row in rows if row["type"] == kind]
        found = [address for address in found if (6 if ":" in address else 4) in versions]
        if found:
            yield from found
            return
