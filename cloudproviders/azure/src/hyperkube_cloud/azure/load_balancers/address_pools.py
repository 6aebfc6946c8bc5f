"""Pools that list the addresses of nodes: ``loadBalancerBackendPoolConfigurationType`` ``nodeIP``.

Machines are not asked for: a node's own status has its address. A pool is changed by itself, without its balancer.
Source: cloud-provider-azure ``pkg/provider/azure_loadbalancer_backendpool.go`` (backendPoolTypeNodeIP).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperkube_cloud.azure.arm import Arm, properties
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.instances import network_id
from hyperkube_cloud.azure.load_balancers.backends import Backends
from hyperkube_cloud.azure.load_balancers.pools import ADDRESSES, addresses_in, interfaces_in, serves
from hyperkube_lib.cloud_provider.rest import Json

from hyperkube.hookspecs.cloud import InstanceNotFound
from hyperkube.machinery.objects import Object, name_of


def address_of(node: Object) -> str:
    """Return a node's own address of IPv4, empty before it has one."""
    for row in (node.get("status") or {}).get("addresses") or ():
        if row.get("type") == "InternalIP" and _is_four(str(row.get("address", ""))):
            return str(row["address"])
    return ""


def _is_four(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).version == 4
    except ValueError:
        return False


class AddressPools:
    """Keeps pools of addresses; implements `pools.Pools`."""

    def __init__(self, arm: Arm, config: AzureConfig, interfaces: Backends) -> None:
        self._arm, self._config, self._interfaces = arm, config, interfaces

    def ensure(self, pool: str, held: Json | None, nodes: Sequence[Object]) -> None:
        """Let a pool list these nodes' addresses, and no other."""
        serving = {
            address: name_of(node) for node in nodes if serves(node, self._config) and (address := address_of(node))
        }
        if nodes and not serving:
            raise InstanceNotFound("none of the nodes that may take traffic has an address")
        self.put(pool, held, serving)

    def put(self, pool: str, held: Json | None, wanted: dict[str, str]) -> None:
        """Let a pool list addresses, each under its node's name; nothing if it does."""
        if interfaces_in(held):
            self._interfaces.empty(pool, held)
        listed = addresses_in(held)
        if listed.keys() == wanted.keys():
            return
        named = [(address, listed.get(address) or name) for address, name in sorted(wanted.items())]
        rows = [{"name": name, "properties": {"ipAddress": address}} for address, name in named]
        network = properties(held).get("virtualNetwork") or {"id": network_id(self._arm, self._config, "")}
        body = {"properties": {ADDRESSES: rows, "virtualNetwork": network}}
        self._arm.put(pool, {**body, **({"etag": held["etag"]} if held and held.get("etag") else {})})

    def empty(self, pool: str, held: Json | None) -> None:
        """Take the interfaces of a cluster that has been moved out of a pool: addresses go with their balancer."""
        if interfaces_in(held):
            self._interfaces.empty(pool, held)
