"""The contract of cloud providers holds for one that gives Services the addresses of the nodes themselves, as k3s does."""

from collections.abc import Sequence

import pytest
from hyperkube_testing.cloud import CloudContract

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud
from hyperkube.machinery.errors import Conflict
from hyperkube.machinery.objects import Object, key_of
from hyperkube.plugin import Plugin, PluginContext

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "spec": {},
    "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.7"}]},
}


class NodeBalancers:
    """Every node listens on a Service's ports; a port belongs to one Service at a time. The Services remember it."""

    def __init__(self) -> None:
        self._owners: dict[int, str] = {}

    def get(self, _cluster: str, service: Object) -> Object | None:
        owned = all(self._owners.get(row["port"]) == key_of(service) for row in service["spec"]["ports"])
        return (service["status"]["loadBalancer"] or None) if owned else None

    def ensure(self, _cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        for row in service["spec"]["ports"]:
            if self._owners.setdefault(row["port"], key_of(service)) != key_of(service):
                raise Conflict(f"port {row['port']} is another Service's")
        return {"ingress": [{"ip": row["address"]} for node in nodes for row in node["status"]["addresses"]]}

    def ensure_deleted(self, _cluster: str, service: Object) -> None:
        self._owners = {port: owner for port, owner in self._owners.items() if owner != key_of(service)}


class NodeAddresses(Plugin):
    """Nothing but balancers."""

    @hookimpl
    def cloud_provider(self) -> Cloud:
        return Cloud(name="node-addresses", load_balancers=NodeBalancers())


class TestContract(CloudContract):
    shares_addresses = True

    @pytest.fixture
    def built(self) -> NodeAddresses:
        return NodeAddresses(PluginContext(name="node-addresses"))

    def nodes(self) -> list[Object]:
        return [NODE]
