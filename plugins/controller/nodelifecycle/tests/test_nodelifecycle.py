"""The nodelifecycle controller, as a transcript of silence and return."""

import pytest
from hyperkube_controller.nodelifecycle import Nodelifecycle
from hyperkube_controller.nodelifecycle.zones import zone_state
from node_world import START, STAYS, Rig, events, evicted, failed, lease, node, pod, ready, taints

from hyperkube.kinds.resources import LEASES, NODES, PODS
from hyperkube.testing.contracts.controller import ControllerContract


@pytest.fixture
def rig():
    return Rig("well")


class TestContract(ControllerContract):
    plugin = Nodelifecycle

    def populate(self, rig):
        rig.client.seed(NODES, node("False"), node(name="well"))


def test_a_node_that_falls_silent_is_marked_and_tainted_after_fifty_seconds(rig):
    rig.client.seed(NODES, node())
    rig.settle()
    rig.advance(49)
    assert ready(rig)[0] == "True"

    rig.advance(2)

    assert ready(rig) == ("Unknown", "NodeStatusUnknown")
    assert taints(rig) == {("unreachable", "NoSchedule")}
    rig.advance(5)
    assert taints(rig) == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}


def test_a_renewed_lease_is_a_sign_of_life(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(LEASES, lease(START))
    rig.settle()
    for _ in range(11):
        rig.renew("n1")
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


def test_pods_of_a_silent_node_are_not_ready(rig):
    rig.client.seed(NODES, node())
    rig.client.seed(PODS, pod("p", STAYS))
    rig.settle()

    rig.advance(51)

    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "False"


def test_pods_of_a_node_that_has_said_nothing_yet_stay_ready_for_its_grace(rig):
    rig.client.seed(NODES, node(ready=""))
    rig.client.seed(PODS, pod("p", STAYS))
    rig.settle()

    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "True"
    rig.advance(61)
    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "False"


def test_pods_that_were_on_a_node_before_it_said_that_it_is_not_ready_are_its_kubelets_to_judge(rig):
    rig.client.seed(NODES, node("False"))
    rig.client.seed(PODS, pod("p", STAYS))
    rig.settle()

    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "True"


def test_a_pod_that_says_it_is_ready_on_a_silent_node_is_taken_out_of_service(rig):
    rig.client.seed(NODES, node("Unknown"))
    rig.settle()

    rig.client.seed(PODS, pod("p", STAYS))
    rig.settle()

    assert rig.client.get(PODS, "p", "d")["status"]["conditions"][0]["status"] == "False"


def test_a_cordoned_node_is_tainted(rig):
    rig.client.seed(NODES, node(unschedulable=True, taints=[{"key": "example.com/mine", "effect": "NoSchedule"}]))

    rig.settle()

    assert taints(rig) == {("mine", "NoSchedule"), ("unschedulable", "NoSchedule")}


def test_nodes_that_come_and_go_are_told_of(rig):
    rig.client.seed(NODES, node())
    rig.settle()
    rig.client.delete(NODES, "n1")
    rig.settle()

    assert events(rig) == [
        ("RegisteredNode", "Node well event: Registered Node well in Controller"),
        ("RegisteredNode", "Node n1 event: Registered Node n1 in Controller"),
        ("RemovingNode", "Node n1 event: Removing Node n1 from Controller"),
    ]


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("Ready", "False", {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")}),
        ("Ready", "Unknown", {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}),
        ("MemoryPressure", "True", {("memory-pressure", "NoSchedule")}),
        ("DiskPressure", "True", {("disk-pressure", "NoSchedule")}),
        ("PIDPressure", "True", {("pid-pressure", "NoSchedule")}),
        ("NetworkUnavailable", "True", {("network-unavailable", "NoSchedule")}),
        ("MemoryPressure", "Unknown", set()),
    ],
)
def test_each_condition_has_its_taint(rig, kind, status, expected):
    conditions = [{"type": kind, "status": status}]
    if kind != "Ready":
        conditions.append({"type": "Ready", "status": "True"})
    rig.client.seed(NODES, {**node(), "status": {"conditions": conditions}})

    rig.settle()

    assert taints(rig) == expected
    stamps = [taint.get("timeAdded") for taint in rig.client.get(NODES, "n1")["spec"].get("taints") or []]
    assert all(stamps)


def test_a_node_that_speaks_again_but_is_not_ready_changes_its_taints_at_once(rig):
    rig.client.seed(NODES, node("Unknown"))
    rig.settle()
    before = taints(rig)

    rig.client.patch(NODES, "n1", {"status": node("False")["status"]}, subresource="status")
    rig.settle()

    assert before == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}
    assert taints(rig) == {("not-ready", "NoSchedule"), ("not-ready", "NoExecute")}


def test_a_zone_empties_one_node_after_the_other():
    rig = Rig("w1", "w2", "w3")
    rig.client.seed(NODES, *failed("a", "b"))
    rig.settle()
    first = evicted(rig)

    rig.advance(9)
    early = evicted(rig)
    rig.advance(2)

    assert (first, early, evicted(rig)) == (["a"], ["a"], ["a", "b"])
    assert taints(rig, "b") >= {("not-ready", "NoSchedule")}


def test_a_small_zone_that_is_mostly_down_is_not_emptied():
    rig = Rig("w1", "w2")
    rig.client.seed(NODES, *failed("a", "b", "c"))

    rig.settle()
    rig.advance(60)

    assert evicted(rig) == []


def test_a_large_zone_that_is_mostly_down_is_emptied_slowly():
    rig = Rig("w1", "w2", large_cluster_size_threshold=4)
    rig.client.seed(NODES, *failed("a", "b", "c"))
    rig.settle()
    first = evicted(rig)

    rig.advance(50)
    later = evicted(rig)
    rig.advance(60)

    assert (len(first), len(later), len(evicted(rig))) == (1, 1, 2)


def test_a_zone_that_is_lost_is_emptied_while_another_is_well():
    rig = Rig("w1")
    rig.client.seed(NODES, *failed("a", "b", "c", zone="far"))

    rig.settle()
    rig.advance(30)

    assert evicted(rig) == ["a", "b", "c"]


def test_nothing_is_emptied_where_no_node_is_ready_and_what_was_tainted_stays():
    rig = Rig("well")
    rig.client.seed(NODES, *failed("a"))
    rig.settle()
    before = evicted(rig)

    rig.client.patch(NODES, "well", {"status": node("False")["status"]}, subresource="status")
    rig.settle()
    rig.advance(60)
    stopped = evicted(rig)
    rig.client.patch(NODES, "well", {"status": node("True")["status"]}, subresource="status")
    rig.advance(20)

    assert (before, stopped, evicted(rig)) == (["a"], [], ["a"])
    assert taints(rig, "a") == {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")}  # silent by now


def test_the_silence_before_the_first_node_is_back_does_not_count():
    rig = Rig()
    rig.client.seed(NODES, node(), node(name="n2"))
    rig.settle()
    rig.advance(55)

    back = node()["status"]
    back["conditions"][0]["lastHeartbeatTime"] = "2030-01-01T00:01:00Z"
    rig.client.patch(NODES, "n1", {"status": back}, subresource="status")
    rig.settle()

    assert evicted(rig) == ["n2"]  # it says Unknown, and the zone has a ready node again


def test_excluded_nodes_do_not_make_a_zone_unhealthy():
    rig = Rig("w1", "w2")
    excluded = {"node.kubernetes.io/exclude-disruption": ""}
    rig.client.seed(NODES, *failed("a"), *(node("False", name=name, labels=excluded) for name in ("b", "c")))

    rig.settle()
    rig.advance(60)

    assert evicted(rig) == ["a", "b", "c"]


def test_beta_labels_follow():
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64"}
    rig = Rig("well")
    rig.client.seed(NODES, node(labels=labels))

    rig.settle()

    found = rig.client.get(NODES, "n1")["metadata"]["labels"]
    assert found == {**labels, "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "arm64"}


@pytest.mark.parametrize(
    ("ready", "not_ready", "state"),
    [
        (2, 0, "Normal"),
        (0, 1, "FullDisruption"),
        (0, 5, "FullDisruption"),
        (1, 2, "Normal"),
        (2, 3, "PartialDisruption"),
        (3, 3, "Normal"),
        (1, 9, "PartialDisruption"),
    ],
)
def test_the_state_of_a_zone_follows_from_its_nodes(ready, not_ready, state):
    assert zone_state(ready, not_ready, 0.55).value == state
