"""The noop network."""

from hyperkube_network.noop import Noop
from hyperkube_testing.node_contracts.network import NetworkContract

from hyperkube.plugin import PluginContext


class TestContract(NetworkContract):
    distinct = False

    def build(self, state):
        return Noop(PluginContext(name="noop")).network_build()


def test_pods_have_the_nodes_address():
    network = Noop(PluginContext(name="noop", settings={"node_ip": "10.1.2.3"})).network_build()

    assert network.setup(NetworkContract.pod(1)).ips == ("10.1.2.3",)
