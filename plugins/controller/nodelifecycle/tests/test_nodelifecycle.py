"""The nodelifecycle controller, as a transcript of silence and return."""

import pytest
from hyperkube_controller.nodelifecycle import Nodelifecycle

from hyperkube.kinds.resources import LEASES, NODES, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def node(ready="True", **spec):
    conditions = [{"type": "Ready", "status": ready, "lastHeartbeatTime": "2030-01-01T00:00:00Z"}] if ready else []
    return {"kind": "Node", "metadata": {"name": "n1"}, "spec": spec, "status": {"conditions": conditions}}


def pod(name, *tolerations):
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "d"},
        "spec": {"nodeName": "n1", "tolerations": [*tolerations]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def lease(renewed):
    return {"kind": "Lease", "metadata": {"name": "n1", "namespace": "kube-node-lease"}, "spec": {"renewTime": renewed}}


STAYS_5 = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
STAYS = {"operator": "Exists"}


@pytest.fixture
def rig():
    return ControllerRig(Nodelifecycle)


def taints(rig):
    listed = rig.client.get(NODES, "n1")["spec"].get("taints") or []
    return {(taint["key"].partition("/")[2], taint["effect"]) for taint in listed}


def ready(rig):
    conditions = rig.client.get(NODES, "n1")["status"]["conditions"]
    return next((c["status"], c.get("reason")) for c in conditions if c["type"] == "Ready")


class TestContract(ControllerContract):
    plugin = Nodelifecycle

    def populate(self, rig):
        rig.client.seed(NODES, node("False"))


def test_a_node_that_falls_silent_is_marked_and_tainted_after_forty_seconds(rig):
    rig.client.seed(NODES, node())
    rig.settle()
    rig.advance(39)
    assert ready(rig)[0] == "True"

    rig.advance(2)

    assert ready(rig) == ("Unknown", "NodeStatusUnknown")
    assert taints(rig) == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}


def test_a_renewed_lease_is_a_sign_of_life(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(LEASES, lease("2030-01-01T00:00:00.000000Z"))
    rig.settle()
    for second in range(10, 120, 10):
        rig.client.patch(LEASES, "n1", {"spec": {"renewTime": f"t{second}"}}, "kube-node-lease")
        rig.advance(10)

    assert ready(rig)[0] == "True"
    assert taints(rig) == set()


def test_a_node_that_comes_back_loses_its_taints(rig):
    rig.client.seed(NODES, node())
    rig.settle()
    rig.advance(50)
    assert taints(rig)

    back = {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2030-01-01T00:01:00Z"}]}
    rig.client.patch(NODES, "n1", {"status": back}, subresource="status")
    rig.settle()

    assert taints(rig) == set()


def test_a_node_that_never_spoke_has_a_minute(rig):
    rig.client.seed(NODES, node(ready=""))
    rig.settle()
    rig.advance(59)
    assert rig.client.get(NODES, "n1")["status"]["conditions"] == []

    rig.advance(2)

    assert ready(rig) == ("Unknown", "NodeStatusNeverUpdated")


def test_pods_stay_as_long_as_they_tolerate(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(PODS, pod("short", STAYS_5), pod("ever", STAYS), pod("none"))
    rig.settle()
    rig.advance(41)
    going = [p["metadata"]["name"] for p in rig.client.objects(PODS) if p["metadata"].get("deletionTimestamp")]
    assert going == ["none"]

    rig.advance(6)

    going = [p["metadata"]["name"] for p in rig.client.objects(PODS) if p["metadata"].get("deletionTimestamp")]
    assert going == ["short", "none"]


def test_pods_of_a_silent_node_are_not_ready(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(PODS, pod("p", STAYS))
    rig.settle()

    rig.advance(41)

    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "False"


def test_a_cordoned_node_is_tainted(rig):
    rig.client.seed(NODES, node(unschedulable=True, taints=[{"key": "example.com/mine", "effect": "NoSchedule"}]))

    rig.settle()

    assert taints(rig) == {("mine", "NoSchedule"), ("unschedulable", "NoSchedule")}
