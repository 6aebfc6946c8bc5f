"""The cloud-node controller: a node learns what its machine is before pods come."""

from types import SimpleNamespace
from typing import ClassVar

import pytest
from hyperkube_controller.cloud_node import CloudNode

from hyperkube.hookspecs.cloud import Cloud, InstanceMetadata, InstanceNotFound
from hyperkube.kinds.resources import NODES
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


class Machines:
    """A cloud with one machine, `n`."""

    def metadata(self, node):
        if node["metadata"]["name"] != "n":
            raise InstanceNotFound("no machine")
        return InstanceMetadata("test://n", "large", ({"type": "InternalIP", "address": "10.0.0.1"},), "z1", "r1")


@pytest.fixture(autouse=True)
def _cloud(monkeypatch):
    host = SimpleNamespace(hook=SimpleNamespace(cloud_provider=lambda: Cloud(name="test", instances=Machines())))

    monkeypatch.setattr("hyperkube_lib.cloud_provider.load", lambda *_: host)


def node(name="n"):
    taints = [
        {"key": CLOUD_UNINITIALIZED, "value": "true", "effect": "NoSchedule"},
        {"key": "own", "effect": "NoSchedule"},
    ]
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"own": "1"}},
        "spec": {"taints": taints},
        "status": {},
    }


class TestContract(ControllerContract):
    plugin = CloudNode
    settings: ClassVar = {"cloud_provider": "test"}

    def populate(self, rig):
        rig.client.seed(NODES, node())


def run(given, settings=None):
    rig = ControllerRig(CloudNode, settings={"cloud_provider": "test"} if settings is None else settings)
    rig.client.seed(NODES, given)
    rig.settle()
    return rig.client.objects(NODES)[0]


def test_a_new_node_is_initialized():
    found = run(node())

    assert found["spec"] == {"providerID": "test://n", "taints": [{"key": "own", "effect": "NoSchedule"}]}
    assert found["status"] == {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}
    assert found["metadata"]["labels"]["own"] == "1"
    assert found["metadata"]["labels"]["topology.kubernetes.io/zone"] == "z1"
    assert found["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "large"


@pytest.mark.parametrize(
    ("given", "settings"), [(node("stranger"), None), (node(), {})], ids=["unknown machine", "no cloud"]
)
def test_others_keep_waiting(given, settings):
    assert len(run(given, settings)["spec"]["taints"]) == 2
