"""The cloud-node controller: a node learns what its machine is before pods come."""

from types import SimpleNamespace
from typing import ClassVar

import pytest
from hyperkube_controller.cloud_node import PROVIDED_IPS, CloudNode, addresses, refresh

from hyperkube.hookspecs.cloud import Cloud, CloudFailed, InstanceMetadata, InstanceNotFound
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

    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.load", lambda *_: host)


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


def test_who_waits_is_told_why(caplog):
    run(node("stranger"))

    assert "failed to get instance metadata for node stranger: no machine" in caplog.text


MACHINE = InstanceMetadata(
    "test://n",
    addresses=(
        {"type": "InternalIP", "address": "10.0.0.1"},
        {"type": "InternalIP", "address": "10.0.0.2"},
        {"type": "ExternalIP", "address": "192.0.2.1"},
        {"type": "InternalIP", "address": "fd00::1"},
    ),
    labels={"test/rack": "7"},
)


def initialized(given="", **status):
    found = node()
    found["spec"]["taints"] = []
    found["metadata"]["annotations"] = {PROVIDED_IPS: given} if given else {}
    return {**found, "status": status}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ["10.0.0.1", "10.0.0.2", "192.0.2.1", "fd00::1"]),
        ("10.0.0.2", ["10.0.0.2", "192.0.2.1", "fd00::1"]),
        ("10.0.0.2,fd00::1", ["10.0.0.2", "fd00::1", "192.0.2.1"]),
    ],
    ids=["none", "one", "of both families"],
)
def test_what_the_kubelet_was_given_comes_first(given, kept):
    assert [row["address"] for row in addresses(initialized(given), MACHINE)] == kept


def test_an_address_that_the_machine_does_not_have_is_refused():
    with pytest.raises(CloudFailed, match=r"matches ip: 10\.9\.9\.9"):
        addresses(initialized("10.9.9.9"), MACHINE)


def test_the_hosts_name_stays_where_the_cloud_does_not_know_one():
    name = {"type": "Hostname", "address": "n.example"}

    assert addresses(initialized(addresses=[name]), MACHINE)[-1] == name


def test_a_node_follows_its_machine_and_is_left_alone_while_nothing_changes():
    first = refresh(initialized(), MACHINE)
    there = initialized(addresses=[dict(row) for row in MACHINE.addresses])
    there["metadata"]["labels"] = {"test/rack": "7"}

    assert [type(action).__name__ for action in first] == ["Patch", "Patch"]
    assert first[1].patch == {"metadata": {"labels": {"test/rack": "7"}}}
    assert refresh(there, MACHINE) == []


def test_the_cloud_is_asked_about_a_node_once_a_period(monkeypatch):
    asked = []
    monkeypatch.setattr(Machines, "metadata", lambda _self, given: asked.append(given["metadata"]["name"]) or MACHINE)
    rig = ControllerRig(CloudNode, settings={"cloud_provider": "test", "node_status_update_frequency": 60.0})
    rig.client.seed(NODES, initialized())
    rig.settle()
    before = len(asked)

    rig.client.patch(NODES, "n", {"metadata": {"labels": {"own": "2"}}})
    rig.settle()
    assert len(asked) == before == 1
    rig.clock.advance(61)
    rig.settle()

    assert len(asked) == 2
