"""The cloud provider ``range``: load balancers are addresses out of a range that is routed to the nodes.

The file that ``--cloud-config`` names says which::

    [LoadBalancer]
    range = 192.0.2.0/28
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from configparser import ConfigParser
from configparser import Error as BadSyntax
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from hyperkube.client.client import Client
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.kinds.resources import SERVICES
from hyperkube.machinery.errors import HyperkubeError, UsageError
from hyperkube.machinery.objects import Object, key_of
from hyperkube.plugin import Plugin

Network = IPv4Network | IPv6Network


class RangeExhausted(HyperkubeError):
    """All addresses of the range are given away."""


def read_range(path: str) -> Network:
    """Return the range that a configuration file names.

    Raises:
        UsageError: the file cannot be read or names no range.
    """
    parser = ConfigParser()
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123  an empty path must fail as a file, not as a folder
            parser.read_file(file)
        return ip_network(parser.get("LoadBalancer", "range"))
    except (OSError, BadSyntax, ValueError) as error:
        raise UsageError(f"--cloud-config={path!r}: {error} (wanted: [LoadBalancer] range = 192.0.2.0/28)") from error


def addresses_of(service: Object) -> list[str]:
    """Return the addresses that a service's status says it has."""
    rows = service.get("status", {}).get("loadBalancer", {}).get("ingress", [])
    return [row["ip"] for row in rows if row.get("ip")]


class AddressPool:
    """Which address belongs to which service; what the services themselves say is the truth after a restart."""

    def __init__(self, network: Network, client: Client | None) -> None:
        self._network = network
        self._client = client
        self._owners: dict[str, str] = {}
        self._lock = threading.Lock()

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the status of a service that has an address, else None."""
        with self._lock:
            self._learn()
            return self._status(self._held(service))

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Return the service's address as a status: the one it has, the one it asks for, or the first free one.

        Raises:
            RangeExhausted: every address is taken.
        """
        with self._lock:
            self._learn()
            address = self._held(service) or next(self._candidates(service), "")
            if not address:
                raise RangeExhausted(f"no free address in {self._network} for service {key_of(service)!r}")
            self._owners[address] = key_of(service)
            return {"ingress": [{"ip": address}]}

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Give a service's address back; nothing happens if it has none."""
        with self._lock:
            self._learn()
            self._owners.pop(self._held(service), None)

    def _learn(self) -> None:
        """Once, before the first decision: take over the addresses that services already have."""
        if self._client is None:
            return
        for service in self._client.list(SERVICES).items:
            for address in addresses_of(service):
                self._owners.setdefault(address, key_of(service))
        self._client = None

    def _held(self, service: Object) -> str:
        """Return the address that the service owns, or that its status claims while no other service owns it."""
        key = key_of(service)
        claimed = [each for each in addresses_of(service) if ip_address(each) in self._network]
        owned = [address for address, owner in self._owners.items() if owner == key]
        return next((each for each in [*owned, *claimed] if self._owners.get(each, key) == key), "")

    def _candidates(self, service: Object) -> Iterator[str]:
        asked = service["spec"].get("loadBalancerIP", "")
        if asked and ip_address(asked) in self._network and asked not in self._owners:
            yield asked
        if not asked:
            yield from (str(each) for each in self._network.hosts() if str(each) not in self._owners)

    @staticmethod
    def _status(address: str) -> Object | None:
        return {"ingress": [{"ip": address}]} if address else None


@dataclass(frozen=True, slots=True)
class Settings:
    """The file with the range."""

    cloud_config: str = ""


class RangeLoadBalancer(Plugin):
    """Offers load balancers, and nothing else."""

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Read the configuration; the services are asked when the first balancer is."""
        network = read_range(self.settings(Settings).cloud_config)
        return Cloud(name="range", load_balancers=AddressPool(network, self.context.client))
