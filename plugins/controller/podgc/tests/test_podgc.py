"""The podgc controller: which pods it ends, and when."""

from hyperkube_controller.podgc import Podgc

from hyperkube.kinds.resources import NODES, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}}


def pod(name, node="", phase="Running", **meta):
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "d", **meta},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase},
    }


class TestContract(ControllerContract):
    plugin = Podgc

    def populate(self, rig):
        going = {"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
        rig.client.seed(PODS, pod("never-scheduled", **going))


def names(rig):
    return [pod["metadata"]["name"] for pod in rig.client.objects(PODS)]


def test_a_pod_of_a_node_that_is_gone_ends_after_the_quarantine():
    rig = ControllerRig(Podgc)
    rig.client.seed(NODES, NODE)
    rig.client.seed(PODS, pod("stays", "n1"), pod("stranded", "n2"))
    rig.settle()
    assert names(rig) == ["stays", "stranded"]

    rig.advance(41)

    assert names(rig) == ["stays"]
    assert ("patch", "pods", "d/stranded/status") in rig.client.actions


def test_a_node_that_comes_back_in_time_saves_its_pods():
    rig = ControllerRig(Podgc)
    rig.client.seed(PODS, pod("a", "n1"))
    rig.settle()
    rig.advance(30)
    rig.client.seed(NODES, NODE)

    rig.advance(30)

    assert names(rig) == ["a"]


def test_the_oldest_ended_pods_go_beyond_the_threshold():
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 2})
    for number in range(4):
        rig.client.seed(PODS, pod(f"p{number}", phase="Succeeded", creationTimestamp=f"2030-01-01T00:00:0{number}Z"))

    rig.settle()

    assert names(rig) == ["p2", "p3"]


def test_a_pod_being_deleted_on_a_node_out_of_service_is_not_waited_for():
    rig = ControllerRig(Podgc)
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    rig.client.seed(NODES, {**NODE, "spec": {"taints": [taint]}})
    rig.client.seed(PODS, pod("a", "n1"))
    rig.settle()
    rig.client.delete(PODS, "a", "d")
    rig.client.patch(NODES, "n1", {"metadata": {"labels": {"x": "y"}}})

    rig.settle()

    assert names(rig) == []
