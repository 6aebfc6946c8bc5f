"""The cloud in memory keeps what every cloud promises."""

import pytest
from hyperkube_cloud.fake import GONE_LABEL, OFF_LABEL, Fake, FakeInstances
from hyperkube_testing.cloud import CloudContract

from hyperkube.plugin import PluginContext


def node(**labels):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": labels},
        "spec": {"providerID": "fake://n1"},
        "status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]},
    }


class TestContract(CloudContract):
    @pytest.fixture
    def built(self):
        return Fake(PluginContext(name="fake"))

    def node(self):
        return node()


def test_a_label_takes_the_machine_away():
    instances = FakeInstances()

    assert instances.exists(node())
    assert not instances.exists(node(**{GONE_LABEL: ""}))


def test_a_label_shuts_the_machine_down():
    instances = FakeInstances()

    assert instances.is_shut_down(node(**{OFF_LABEL: ""}))
    assert not instances.is_shut_down(node())
