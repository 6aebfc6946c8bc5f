"""The cloud-node-lifecycle controller: a node goes with its machine, and only with its machine."""

from types import SimpleNamespace
from typing import ClassVar

import pytest
from hyperkube_controller.cloud_node_lifecycle import SHUTDOWN, CloudNodeLifecycle

from hyperkube.hookspecs.cloud import Cloud
from hyperkube.kinds.resources import EVENTS, NODES
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.times import format_time
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


class Machines:
    """A cloud whose answers the test sets, and that counts the questions."""

    def __init__(self):
        self.there = True
        self.off = False
        self.down = False
        self.asked = 0

    def exists(self, node):
        self.asked += 1
        if self.down:
            raise HyperkubeError("503 Slow Down")
        return self.there

    def is_shut_down(self, node):
        return self.off


@pytest.fixture(autouse=True)
def machines(monkeypatch):
    found = Machines()
    host = SimpleNamespace(hook=SimpleNamespace(cloud_provider=lambda: Cloud(name="test", instances=found)))
    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.load", lambda *_: host)
    return found


def node(ready="Unknown", *taints, **spec):
    return {
        "kind": "Node",
        "metadata": {"name": "n", "uid": "u"},
        "spec": {"taints": list(taints), **spec},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def rig_with(given):
    rig = ControllerRig(CloudNodeLifecycle, settings={"cloud_provider": "test"})
    given["metadata"].setdefault("creationTimestamp", format_time(rig.clock.now()))
    rig.client.seed(NODES, given)
    rig.settle()
    return rig


class TestContract(ControllerContract):
    plugin = CloudNodeLifecycle
    settings: ClassVar = {"cloud_provider": "test"}

    def populate(self, rig):
        rig.client.seed(NODES, node("True", SHUTDOWN))


def test_a_node_without_a_machine_is_deleted_and_an_event_tells_why(machines):
    machines.there = False

    rig = rig_with(node())

    assert rig.client.objects(NODES) == []
    [event] = rig.client.objects(EVENTS)
    assert (event["reason"], event["message"]) == (
        "DeletingNode",
        "Deleting node n because it does not exist in the cloud provider",
    )


def test_the_cloud_is_not_asked_for_nodes_that_are_ready(machines):
    machines.there = False

    rig = rig_with(node("True"))
    rig.advance(60)

    assert (machines.asked, len(rig.client.objects(NODES))) == (0, 1)


def test_a_machine_that_is_off_taints_its_node_until_it_is_ready_again(machines):
    machines.off = True
    rig = rig_with(node())

    tainted = rig.client.objects(NODES)[0]["spec"]["taints"]
    rig.client.patch(
        NODES, "n", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status"
    )
    rig.settle()

    assert tainted == [SHUTDOWN]
    assert rig.client.objects(NODES)[0]["spec"]["taints"] == []


def test_a_cloud_that_does_not_answer_changes_nothing(machines):
    machines.there, machines.down = False, True
    rig = rig_with(node())
    rig.advance(30)

    assert len(rig.client.objects(NODES)) == 1
    assert machines.asked > 1


def test_a_new_node_is_given_a_minute_until_the_cloud_knows_it(machines):
    machines.there = False
    rig = rig_with(node("False", {"key": CLOUD_UNINITIALIZED, "effect": "NoSchedule"}))

    before = (len(rig.client.objects(NODES)), machines.asked)
    rig.advance(61)

    assert before == (1, 0)
    assert rig.client.objects(NODES) == []
