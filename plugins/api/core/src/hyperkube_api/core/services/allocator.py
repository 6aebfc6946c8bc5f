"""The allocator of cluster IPs and node ports: which are free, and which service gets them.

A cluster IP is taken by creating the IPAddress object of its name: the store decides between two that want it, on one
server or on several. Node ports have no such objects: a record in the store says which are taken, and is changed by
compare-and-swap. What this server knows of the services only spares it vain attempts, and mends the record: a port that
no service has had for a while is free, whatever became of the server that took it.

Source: kubernetes pkg/registry/core/service/ipallocator and portallocator.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Iterable
from random import Random

from hyperkube_api.core.services import node_port_record

from hyperkube.hookspecs.api import Call
from hyperkube.hookspecs.api_services import Network
from hyperkube.kinds.resources import IP_ADDRESSES, SERVICE_CIDRS, SERVICES
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import Object, metadata

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
MANAGED_BY = "ipallocator.k8s.io"
_REFRESH_SECONDS = 30.0
_ABANDONED_SECONDS = 60.0
"""How long a port may be taken without a service that has it. Kubernetes' repair loops wait about as long."""
_RANDOM_TRIES = 16


class NotAllocated(ValueError):
    """The address or port that was asked for cannot be had; the text says why."""


def family_of(text: str) -> str:
    """Return ``IPv4`` or ``IPv6`` for an address."""
    return "IPv6" if ":" in text else "IPv4"


class ServiceAllocator:
    """Allocates cluster IPs and node ports to the services that one server creates."""

    def __init__(self, random: Random | None = None) -> None:
        self._random = random or Random()  # noqa: S311  a guess at an address is no secret
        self._lock = threading.Lock()
        self._ports: set[int] = set()
        self._claimed: set[int] = set()
        self._refreshed: float | None = None
        self._leaked: dict[int, tuple[float, float]] = {}

    def families(self, call: Call) -> list[str]:
        """Return the families that this cluster is configured for, the default one first."""
        return [f"IPv{network.version}" for network in call.services.service_networks]

    def choose_ip(self, call: Call, family: str) -> str:
        """Return an address of a family that is free now; another request may still be quicker.

        A dry run does not look for one: it gets the address of the network.

        Raises:
            NotAllocated: the ranges of the family are full.
        """
        for network in self._networks(call, family):
            if call.dry_run:
                return str(network.network_address)
            low, size = _usable(network)
            reserved = min(max(16, size // 16), 256) if size > 16 else 0
            for _ in range(_RANDOM_TRIES):
                address = low + reserved + self._random.randrange(max(1, size - reserved))
                if not self._is_used(call, str(address)):
                    return str(address)
            for offset in range(size):
                if not self._is_used(call, str(low + offset)):
                    return str(low + offset)
        raise NotAllocated("range is full")

    def check_ip(self, call: Call, text: str) -> None:
        """Refuse an address that is outside the ranges or taken.

        Raises:
            NotAllocated: with the reason.
        """
        address = ipaddress.ip_address(text)
        for network in self._networks(call, family_of(text)):
            low, size = _usable(network)
            if address.version == low.version and int(low) <= int(address) < int(low) + size:
                break
        else:
            raise NotAllocated("the provided network does not match the current range")
        if self._is_used(call, text):
            raise NotAllocated("provided IP is already allocated")

    def claim_ip(self, call: Call, text: str, service: Object) -> None:
        """Take an address for a service by creating its IPAddress.

        Raises:
            NotAllocated: another service was quicker.
        """
        meta = metadata(service)
        record: Object = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "IPAddress",
            "metadata": {
                "name": text,
                "labels": {
                    "ipaddress.kubernetes.io/ip-family": family_of(text),
                    "ipaddress.kubernetes.io/managed-by": MANAGED_BY,
                },
            },
            "spec": {
                "parentRef": {
                    "resource": "services",
                    "namespace": meta.get("namespace", ""),
                    "name": meta.get("name", ""),
                }
            },
        }
        try:
            call.objects.create(IP_ADDRESSES, record)
        except AlreadyExists as error:
            raise NotAllocated("provided IP is already allocated") from error

    def release_ip(self, call: Call, text: str) -> None:
        """Give an address back; one that is already free stays free."""
        try:
            call.objects.delete(IP_ADDRESSES, text, options={})
        except NotFound:
            return

    def choose_port(self, call: Call, besides: Iterable[int] = ()) -> int:
        """Return a node port that is free now.

        Raises:
            NotAllocated: the range is full.
        """
        low, high = call.services.node_ports
        used = self._used_ports(call) | set(besides)
        for _ in range(_RANDOM_TRIES):
            port = self._random.randint(low, high)
            if port not in used:
                return port
        for fresh in (False, True):  # another server may have given one back
            used = self._used_ports(call, fresh=fresh) | set(besides)
            for port in range(low, high + 1):
                if port not in used:
                    return port
        raise NotAllocated("range is full")

    def check_port(self, call: Call, port: int) -> None:
        """Refuse a node port that is outside the range or taken; a dry run is told of neither.

        Raises:
            NotAllocated: with the reason.
        """
        if call.dry_run:
            return
        low, high = call.services.node_ports
        if not low <= port <= high:
            raise NotAllocated(f"provided port is not in the valid range. The range of valid ports is {low}-{high}")
        if port in self._used_ports(call) and port in self._used_ports(call, fresh=True):
            raise NotAllocated("provided port is already allocated")

    def claim_port(self, call: Call, port: int) -> None:
        """Take a node port.

        Raises:
            NotAllocated: another service was quicker.
        """
        self._used_ports(call)
        with self._lock:
            if port in self._ports or port in self._claimed:
                raise NotAllocated("provided port is already allocated")
            self._claimed.add(port)
        try:
            self._record(call, lambda taken: self._take(call, taken, port))
        except BaseException:
            with self._lock:
                self._claimed.discard(port)
            raise

    def claim_any_port(self, call: Call, besides: Iterable[int] = ()) -> int:
        """Take a node port that no server has taken; return it.

        Raises:
            NotAllocated: the range is full.
        """
        low, high = call.services.node_ports
        refused, found = set(besides), list[int]()

        def take(taken: set[int]) -> set[int]:
            for fresh in (False, True):
                used = taken | refused | self._used_ports(call, fresh=fresh)
                free = [port for port in range(low, high + 1) if port not in used]
                if free:
                    break
            else:
                raise NotAllocated("range is full")
            found[:] = [self._random.choice(free)]
            return taken | {found[0]}

        self._record(call, take)
        with self._lock:
            self._claimed.add(found[0])
        return found[0]

    def settle_port(self, call: Call, port: int, *, stored: bool) -> None:
        """Finish a claim: the port is used from now on, or free again."""
        if stored:
            with self._lock:
                self._claimed.discard(port)
                self._ports.add(port)
        else:
            self.release_port(call, port)

    def release_port(self, call: Call, port: int) -> None:
        """Give a node port back."""
        self._record(call, lambda taken: taken - {port} if port in taken else None)
        with self._lock:
            self._ports.discard(port)
            self._claimed.discard(port)

    def _record(self, call: Call, change: Callable[[set[int]], set[int] | None]) -> None:
        """Change the ports that the record says are taken; without a record for this range, those of the services."""
        low, high = call.services.node_ports

        def changed(record: Object | None) -> Object | None:
            taken = node_port_record.read_ports(record, low, high)
            ports = change(self._ports_of_services(call) if taken is None else taken)
            return node_port_record.write_ports(ports, low, high) if ports is not None else None

        call.objects.change_record(node_port_record.KEY, changed)

    def _take(self, call: Call, taken: set[int], port: int) -> set[int] | None:
        """Return the ports with one more.

        Raises:
            NotAllocated: another server has it, or had it a moment ago.
        """
        low, high = call.services.node_ports
        if port not in taken:
            self._leaked.pop(port, None)
            return taken | {port} if low <= port <= high else None
        now = call.clock.monotonic()
        if port in self._ports_of_services(call):
            self._leaked.pop(port, None)
            raise NotAllocated("provided port is already allocated")
        since, seen = self._leaked.get(port, (now, now))
        if now - seen > _ABANDONED_SECONDS:  # it may have been free in between
            since = now
        self._leaked[port] = (since, now)
        if now - since < _ABANDONED_SECONDS:
            raise NotAllocated("provided port is already allocated")
        del self._leaked[port]
        return taken

    @staticmethod
    def _ports_of_services(call: Call) -> set[int]:
        return {port for service in call.objects.list(SERVICES) for port in node_ports(service)}

    def _networks(self, call: Call, family: str) -> list[Network]:
        """Return the ranges of a family: those of the flag, and of the ServiceCIDR objects."""
        found = list(call.services.service_networks)
        for item in call.objects.list(SERVICE_CIDRS):
            found += [ipaddress.ip_network(text) for text in (item.get("spec") or {}).get("cidrs") or ()]
        return list(dict.fromkeys(network for network in found if f"IPv{network.version}" == family))

    def _is_used(self, call: Call, text: str) -> bool:
        try:
            call.objects.get(IP_ADDRESSES, text)
        except NotFound:
            return False
        return True

    def _used_ports(self, call: Call, *, fresh: bool = False) -> set[int]:
        """Return the node ports in use.

        They are read from the services at first, and now and then for other servers' sake. Before a port is
        refused they are read `fresh`: its service may have been deleted through another server.
        """
        now = call.clock.monotonic()
        with self._lock:
            if not fresh and self._refreshed is not None and now - self._refreshed < _REFRESH_SECONDS:
                return self._ports | self._claimed
        ports = self._ports_of_services(call)
        with self._lock:
            self._ports, self._refreshed = ports, now
            return self._ports | self._claimed


def node_ports(service: Object) -> list[int]:
    """Return the node ports of a service, the health check's included."""
    spec = service.get("spec") or {}
    ports = [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
    if spec.get("healthCheckNodePort"):
        ports.append(spec["healthCheckNodePort"])
    return ports


def _usable(network: Network) -> tuple[Address, int]:
    """Return the first address that may be given out, and how many there are."""
    low: Address = network.network_address + 1
    size = network.num_addresses - (2 if network.version == 4 else 1)
    return low, max(0, size)
