"""Gangs through the real API server: all of them or none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import (
    NO_ACCOUNTS,
    SECONDS,
    add_node,
    add_pods,
    add_priorities,
    get,
    message_of,
    node_of,
    pod,
    remove,
    wait_bound,
    wait_message,
)

from hyperkube.kinds.resources import POD_GROUPS, PODS

SERVED = {
    **NO_ACCOUNTS,
    "feature-gates": {"GenericWorkload": True},
    "runtime-config": {"scheduling.k8s.io/v1alpha2": "true"},
}
GATES = {"feature-gates": {"GenericWorkload": True, "GangScheduling": True}}


@pytest.fixture
def cluster():
    with ControlPlane(controller_manager=None, apiserver=SERVED, scheduler=GATES) as running:
        yield running


def add_group(cluster, name, count):
    spec = {"schedulingPolicy": {"gang": {"minCount": count}}}
    cluster.client.create(POD_GROUPS, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})


def member(name, group="gang", **spec):
    return pod(name, schedulingGroup={"podGroupName": group}, **spec)


def members(count, group="gang"):
    return [f"{group}-{index}" for index in range(count)]


def placed(cluster, names):
    return [name for name in names if node_of(cluster, name)]


def test_a_gang_that_does_not_fit_takes_no_place_and_one_that_does_takes_all(cluster):
    add_node(cluster, "small", cpu="3")
    add_group(cluster, "gang", 4)
    names = members(4)
    add_pods(cluster, *(member(name) for name in names))
    cluster.wait(lambda: any("Insufficient cpu" in message_of(cluster, name) for name in names), "a refusal", SECONDS)

    add_pods(cluster, pod("alone", "3"))
    wait_bound(cluster, "alone")
    meanwhile = placed(cluster, names)
    add_node(cluster, "large", cpu="4")
    nodes = wait_bound(cluster, *names)

    assert meanwhile == []
    assert set(nodes) == {"large"}


def test_pods_wait_for_their_group_and_for_each_other(cluster):
    add_node(cluster, "node", cpu="8")
    add_pods(cluster, member("gang-0"), member("gang-1"), pod("free"))
    wait_bound(cluster, "free")
    without_group = placed(cluster, members(2))
    add_group(cluster, "gang", 3)
    add_pods(cluster, pod("later"))
    wait_bound(cluster, "later")
    too_few = placed(cluster, members(2))

    add_pods(cluster, member("gang-2"))
    wait_bound(cluster, *members(3))
    add_pods(cluster, member("gang-3"))

    assert (without_group, too_few) == ([], [])
    assert wait_bound(cluster, "gang-3") == ["node"]


def test_two_gangs_with_room_for_one_do_not_block_each_other(cluster):
    add_node(cluster, "node", cpu="5")
    for group in ("red", "blue"):
        add_group(cluster, group, 4)
    add_pods(cluster, *(member(f"{group}-{index}", group) for index in range(4) for group in ("red", "blue")))

    def winner():
        counts = {group: len(placed(cluster, members(4, group))) for group in ("red", "blue")}
        return max(counts, key=counts.get) if 4 in counts.values() else ""

    first = cluster.wait(winner, "one of the gangs", SECONDS)
    other = "blue" if first == "red" else "red"

    assert placed(cluster, members(4, other)) == []


def condition(cluster, name="gang"):
    rows = cluster.client.get(POD_GROUPS, name, "default").get("status", {}).get("conditions", [])
    return next((row for row in rows if row["type"] == "PodGroupScheduled"), {})


def test_a_gang_with_a_pod_that_may_not_be_tried_yet_takes_no_place(cluster):
    add_node(cluster, "node", cpu="3")
    add_group(cluster, "gang", 2)
    gate = [{"name": "example.com/wait"}]
    add_pods(cluster, member("gang-0"), member("gang-1", schedulingGates=gate))
    wait_message(cluster, "gang-0", "waiting for minCount pods from a gang to be scheduled")

    add_pods(cluster, pod("alone", "3"))

    assert wait_bound(cluster, "alone") == ["node"]
    assert node_of(cluster, "gang-0") is None


def test_the_group_tells_what_came_of_it(cluster):
    add_node(cluster, "small", cpu="1")
    add_group(cluster, "gang", 2)
    add_pods(cluster, *(member(name) for name in members(2)))
    refused = cluster.wait(lambda: condition(cluster), "a condition", SECONDS)
    one = cluster.wait(lambda: message_of(cluster, "gang-0"), "a message", SECONDS)
    other = cluster.wait(lambda: message_of(cluster, "gang-1"), "a message", SECONDS)
    add_node(cluster, "large", cpu="2")
    wait_bound(cluster, *members(2))
    fits = cluster.wait(lambda: condition(cluster).get("status") == "True" and condition(cluster), "success", SECONDS)

    assert (refused["status"], refused["reason"]) == ("False", "Unschedulable")
    assert (fits["status"], fits["reason"]) == ("True", "Scheduled")
    why_not = "1 No preemption victims found for incoming pod."
    assert {one, other} == {
        "waiting for minCount pods from a gang to be scheduled",
        f"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: {why_not}",
    }


def test_a_pod_that_comes_later_does_not_make_a_scheduled_group_unscheduled(cluster):
    add_node(cluster, "node", cpu="2")
    add_group(cluster, "gang", 2)
    add_pods(cluster, *(member(name) for name in members(2)))
    wait_bound(cluster, *members(2))
    cluster.wait(lambda: condition(cluster).get("status") == "True", "success", SECONDS)
    add_pods(cluster, member("gang-2"))
    wait_message(cluster, "gang-2", "Insufficient cpu")

    assert condition(cluster)["status"] == "True"


def test_a_gang_takes_the_place_of_less_important_pods(cluster):
    add_priorities(cluster, low=1, high=1000)
    add_node(cluster, "node", cpu="3")
    add_pods(cluster, *(pod(name, priorityClassName="low", terminationGracePeriodSeconds=1) for name in ("x", "y")))
    wait_bound(cluster, "x", "y")
    add_group(cluster, "gang", 3)
    add_pods(cluster, *(member(name, priorityClassName="high") for name in members(3)))

    def ending():
        return all(get(cluster, name)["metadata"].get("deletionTimestamp") for name in ("x", "y"))

    cluster.wait(ending, "both to be evicted", SECONDS)
    cluster.wait(
        lambda: condition(cluster).get("message") == "pod group is waiting for preemption to complete", "", SECONDS
    )
    meanwhile = placed(cluster, members(3))
    for name in ("x", "y"):
        remove(cluster, name)

    assert wait_bound(cluster, *members(3)) == ["node"] * 3
    assert meanwhile == []


def test_pods_of_a_basic_group_need_not_wait_for_each_other(cluster):
    add_node(cluster, "node", cpu="1")
    spec = {"schedulingPolicy": {"basic": {}}}
    cluster.client.create(POD_GROUPS, {"metadata": {"name": "gang", "namespace": "default"}, "spec": spec})
    add_pods(cluster, *(member(name) for name in members(2)))

    cluster.wait(lambda: len(placed(cluster, members(2))) == 1, "one of them", SECONDS)
    cluster.wait(lambda: condition(cluster).get("status") == "True", "success", SECONDS)


def test_a_group_that_asks_for_one_rack_gets_the_one_that_holds_most_of_it():
    gates = {**GATES["feature-gates"], "TopologyAwareWorkloadScheduling": True}
    served = {**SERVED, "feature-gates": gates}
    with ControlPlane(controller_manager=None, apiserver=served, scheduler={"feature-gates": gates}) as cluster:
        for name, rack, cpu in (
            ("a0", "a", "2"),
            ("b0", "b", "2"),
            ("b1", "b", "1"),
            ("c0", "c", "1"),
            ("c1", "c", "2"),
        ):
            add_node(cluster, name, cpu=cpu, labels={"rack": rack})
        add_pods(cluster, pod("filler", nodeSelector={"kubernetes.io/hostname": "c1"}))
        wait_bound(cluster, "filler")
        spec = {
            "schedulingPolicy": {"gang": {"minCount": 2}},
            "schedulingConstraints": {"topology": [{"key": "rack"}]},
        }
        cluster.client.create(POD_GROUPS, {"metadata": {"name": "gang", "namespace": "default"}, "spec": spec})
        add_pods(cluster, *(member(name, schedulingGates=[{"name": "example.com/wait"}]) for name in members(3)))
        for name in members(3):
            cluster.client.patch(PODS, name, {"spec": {"schedulingGates": None}}, "default")
        cluster.wait(lambda: len(placed(cluster, members(3))) > 1, "the gang", SECONDS)
        nodes = {node_of(cluster, name) for name in placed(cluster, members(3))}
        add_pods(cluster, member("gang-3", cpu="2"))
        wait_message(cluster, "gang-3", "node(s) are not in the placement of the pod group")

    assert len({name[0] for name in nodes}) == 1, "one rack"


def test_for_a_group_as_a_whole_as_few_pods_as_can_be_are_evicted():
    gates = {**GATES["feature-gates"], "WorkloadAwarePreemption": True}
    served = {**SERVED, "feature-gates": gates}
    with ControlPlane(controller_manager=None, apiserver=served, scheduler={"feature-gates": gates}) as cluster:
        low = [f"low-{index}" for index in range(4)]
        for name in ("n0", "n1"):
            add_node(cluster, name, cpu="2")
        add_pods(cluster, *(pod(name, terminationGracePeriodSeconds=1) for name in low))
        wait_bound(cluster, *low)
        spec = {"schedulingPolicy": {"gang": {"minCount": 3}}, "priority": 1000}
        cluster.client.create(POD_GROUPS, {"metadata": {"name": "gang", "namespace": "default"}, "spec": spec})
        add_pods(cluster, *(member(name) for name in members(3)))

        def going():
            return [name for name in low if get(cluster, name)["metadata"].get("deletionTimestamp")]

        cluster.wait(lambda: len(going()) == 3, "three to be evicted", SECONDS)
        waits = "pod group is waiting for preemption to complete"
        cluster.wait(lambda: condition(cluster).get("message") == waits, waits, SECONDS)
        victims = going()
        for name in victims:
            remove(cluster, name)
        wait_bound(cluster, *members(3))

        assert len(victims) == 3
        assert [name for name in low if name not in victims and node_of(cluster, name)]


def test_a_group_whose_pods_are_in_two_racks_already_is_not_placed():
    gates = {**GATES["feature-gates"], "TopologyAwareWorkloadScheduling": True}
    served = {**SERVED, "feature-gates": gates}
    with ControlPlane(controller_manager=None, apiserver=served, scheduler={"feature-gates": gates}) as cluster:
        for rack in ("a", "b"):
            add_node(cluster, rack, cpu="4", labels={"rack": rack})
        spec = {
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "schedulingConstraints": {"topology": [{"key": "rack"}]},
        }
        cluster.client.create(POD_GROUPS, {"metadata": {"name": "gang", "namespace": "default"}, "spec": spec})
        add_pods(cluster, member("gang-0", nodeName="a"), member("gang-1", nodeName="b"), member("gang-2"))
        why = "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: a, b"
        wait_message(cluster, "gang-2", why)
        failed = cluster.wait(lambda: condition(cluster), "a condition", SECONDS)

    assert (failed["reason"], failed["message"]) == ("SchedulerError", why)


def test_pods_of_a_group_name_one_scheduler(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text("""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: other
""")
    with ControlPlane(controller_manager=None, apiserver=SERVED, scheduler={**GATES, "config": str(path)}) as cluster:
        add_node(cluster, "node", cpu="4")
        add_group(cluster, "gang", 2)
        add_pods(cluster, member("gang-0", schedulerName="other"), member("gang-1"))
        text = "all pods in a single pod group should have the same .spec.schedulerName set"

        assert wait_message(cluster, "gang-0", text)
        assert placed(cluster, members(2)) == []


def test_a_group_is_removed_after_its_pods():
    gate = {"feature-gates": {"GenericWorkload": True}}
    manager = {"controllers": ["podgroup-protection"], **gate}
    apiserver = {**SERVED, "authorization-mode": ["RBAC"]}
    with ControlPlane(controller_manager=manager, apiserver=apiserver, scheduler=None) as cluster:
        add_group(cluster, "gang", 1)
        add_pods(cluster, member("one"))
        protected = cluster.client.get(POD_GROUPS, "gang", "default")["metadata"]["finalizers"]
        cluster.client.delete(POD_GROUPS, "gang", "default")
        held = cluster.client.get(POD_GROUPS, "gang", "default")["metadata"]

        cluster.client.delete(PODS, "one", "default", options={"gracePeriodSeconds": 0})
        cluster.wait(lambda: not cluster.client.list(POD_GROUPS, "default").items, "the group to go", SECONDS)

    assert protected == ["scheduling.k8s.io/podgroup-protection"]
    assert held["deletionTimestamp"]
