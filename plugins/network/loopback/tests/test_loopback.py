"""The loopback network."""

import json

import pytest
from hyperkube_network.loopback import LoopbackNetwork
from hyperkube_testing.node_contracts.network import NetworkContract

from hyperkube.hookspecs.network import NetworkFailed
from hyperkube.machinery.errors import UsageError

pod = NetworkContract.pod


class TestContract(NetworkContract):
    def build(self, state):
        return LoopbackNetwork(state / "loopback.json", state / "slices")

    def release(self, network):
        network.close()


def test_two_clusters_have_different_slices(tmp_path):
    one = LoopbackNetwork(tmp_path / "one.json", tmp_path / "slices")
    two = LoopbackNetwork(tmp_path / "two.json", tmp_path / "slices")

    first, second = (network.setup(pod(1)).ips[0].split(".")[1] for network in (one, two))
    one.close()
    two.close()

    assert first != second


def test_a_cluster_gets_its_slice_again(tmp_path):
    (tmp_path / "state.json").write_text(json.dumps({"sandbox-9": "127.99.0.7"}))

    network = LoopbackNetwork(tmp_path / "state.json", tmp_path / "slices")
    network.close()

    assert network.setup(pod(1)).ips[0].startswith("127.99.0.")


def test_an_address_rests_before_it_is_used_again(tmp_path):
    network = LoopbackNetwork(tmp_path / "state.json", tmp_path / "slices", "127.5.0.0/24")
    first = network.setup(pod(1))

    network.teardown(pod(1))

    assert network.setup(pod(2)) != first


def test_a_full_range_is_told(tmp_path):
    network = LoopbackNetwork(tmp_path / "state.json", tmp_path / "slices", "127.5.0.0/30")
    network.setup(pod(1))

    with pytest.raises(NetworkFailed, match=r"no address is left in 127\.5\.0\.0/30"):
        network.setup(pod(2))


def test_another_range_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not within 127"):
        LoopbackNetwork(tmp_path / "state.json", tmp_path / "slices", "10.0.0.0/24")


def test_a_loopback_range_given_later_is_used(tmp_path):
    network = LoopbackNetwork(tmp_path / "state.json", tmp_path / "slices", "127.5.0.0/24")

    network.set_pod_cidr("127.6.0.0/24")
    network.set_pod_cidr("10.244.0.0/24")

    assert network.setup(pod(1)).ips[0].startswith("127.6.0.")
