"""The podgc controller: which pods it ends, and when."""

import pytest
from hyperkube_controller.podgc import CHECK_SECONDS, Podgc, decide
from prometheus_client import CollectorRegistry

from hyperkube.client.actions import Delete, Patch
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.errors import InternalError
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


OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
GOING = {"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}


class TestContract(ControllerContract):
    plugin = Podgc

    def populate(self, rig):
        rig.client.seed(NODES, {**NODE, "spec": {"taints": [OUT_OF_SERVICE]}})
        rig.client.seed(PODS, pod("going", "n1", **GOING))


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


def test_a_pod_that_was_never_on_a_node_gets_the_time_to_go_by_itself():
    rig = ControllerRig(Podgc)
    rig.client.seed(PODS, pod("never-scheduled", **GOING))
    rig.settle()
    rig.advance(CHECK_SECONDS - 1)
    assert rig.client.actions == []

    rig.advance(1)

    assert names(rig) == []


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
    rig.client.seed(NODES, {**NODE, "spec": {"taints": [OUT_OF_SERVICE]}})
    rig.client.seed(PODS, pod("a", "n1"))
    rig.settle()
    rig.client.delete(PODS, "a", "d")
    rig.client.patch(NODES, "n1", {"metadata": {"labels": {"x": "y"}}})

    rig.settle()

    assert names(rig) == []


def test_evicted_pods_go_before_older_ones():
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 2})
    for number, reason in enumerate(("", "", "Evicted")):
        ended = pod(f"p{number}", phase="Failed", creationTimestamp=f"2030-01-01T00:00:0{number}Z")
        rig.client.seed(PODS, {**ended, "status": {**ended["status"], "reason": reason}})

    rig.settle()

    assert names(rig) == ["p0", "p1"]


def test_an_ended_pod_that_is_being_deleted_counts_towards_the_threshold():
    going = {"deletionTimestamp": "2030-01-01T00:00:09Z", "finalizers": ["example.com/held"]}
    ended = [pod(f"p{number}", "n1", "Succeeded", creationTimestamp=f"2030-01-01T00:00:0{number}Z") for number in "01"]
    ended.append(pod("p2", "n1", "Succeeded", creationTimestamp="2030-01-01T00:00:02Z", **going))

    (found,) = decide(ended, set(), set(), 2, ControllerRig().clock.now())

    assert (found.reason, found.pod["metadata"]["name"]) == ("terminated", "p0")


def test_a_threshold_of_zero_keeps_all():
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 0})
    rig.client.seed(PODS, *(pod(f"p{number}", phase="Succeeded") for number in range(4)))

    rig.settle()

    assert len(names(rig)) == 4


@pytest.mark.parametrize(
    ("phase", "node", "statuses"),
    [
        ("Pending", "", [{"phase": "Failed"}]),
        ("Running", "n1", [{"phase": "Failed"}]),
        ("Succeeded", "n1", []),
        ("Failed", "n1", []),
    ],
    ids=["unscheduled", "out-of-service", "succeeded", "failed"],
)
def test_a_pod_has_failed_before_it_is_deleted_unless_it_has_ended(phase, node, statuses):
    going = pod("a", node, phase, deletionTimestamp="2030-01-01T00:00:00Z")

    (found,) = decide([going], set(), {"n1"}, 0, ControllerRig().clock.now())

    actions = found.actions
    assert found.reason == ("out-of-service" if node else "unscheduled")
    assert [action.patch["status"] for action in actions if isinstance(action, Patch)] == statuses
    assert [action.options for action in actions if isinstance(action, Delete)] == [{"gracePeriodSeconds": 0}]


def test_a_stranded_pod_is_told_why():
    (found,) = decide([pod("a", "gone")], {"gone"}, set(), 0, ControllerRig().clock.now())

    patch, _ = found.actions
    (condition,) = patch.patch["status"]["conditions"]
    assert patch.patch["status"]["phase"] == "Failed"
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "DeletionByPodGC")
    assert condition["message"] == "PodGC: node no longer exists"


def test_a_pod_that_cannot_be_ended_holds_up_no_other_and_is_tried_again():
    rig = ControllerRig(Podgc)
    registry = CollectorRegistry()
    registry.register(rig.plugins[0]._metrics)
    rig.client.seed(PODS, pod("a", "gone"), pod("b", "gone"))
    rig.settle()
    rig.client.fail_next("patch", "pods", InternalError("a webhook is down"))

    rig.advance(41)
    rig.settle()

    deleted = [name for verb, _resource, name in rig.client.actions if verb == "delete"]
    assert deleted == ["d/b", "d/a"]
    labels = {"namespace": "d", "reason": "orphaned"}
    assert registry.get_sample_value("pod_gc_collector_force_delete_pod_errors_total", labels) == 1
    assert registry.get_sample_value("pod_gc_collector_force_delete_pods_total", labels) == 3
