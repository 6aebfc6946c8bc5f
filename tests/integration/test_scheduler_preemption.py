"""Preemption through the real API server: who goes, who stays, who may not even ask."""

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
    settled,
    wait_bound,
    wait_message,
)

from hyperkube.kinds.resources import EVENTS, POD_DISRUPTION_BUDGETS, PODS, PRIORITY_CLASSES


@pytest.fixture
def cluster():
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS) as running:
        add_priorities(running, low=1, middle=500, high=1000)
        yield running


def low(name, cpu="1", labels=None, **spec):
    return pod(name, cpu, labels, priorityClassName="low", **spec)


def leaving(cluster, *names):
    return sorted(name for name in names if get(cluster, name)["metadata"].get("deletionTimestamp"))


def wait_leaving(cluster, *names):
    return cluster.wait(lambda: leaving(cluster, *names), f"one of {names} to be evicted", SECONDS)


def add_budget(cluster, name, allowed, **labels):
    body = {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": {"matchLabels": labels}}}
    cluster.client.create(POD_DISRUPTION_BUDGETS, body)
    status = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    cluster.client.patch(POD_DISRUPTION_BUDGETS, name, {"status": status}, "default", subresource="status")


def test_pods_whose_budget_allows_it_go_before_others(cluster):
    for name in ("guarded", "free"):
        add_node(cluster, name, cpu="2")
    settled(cluster, 2)
    add_budget(cluster, "guard", 0, app="guarded")
    add_pods(cluster, low("a", "2", {"app": "guarded"}, nodeName="guarded"), low("b", "2", nodeName="free"))

    add_pods(cluster, pod("important", "2", priorityClassName="high"))
    gone = wait_leaving(cluster, "a", "b")
    remove(cluster, "b")

    assert gone == ["b"]
    assert wait_bound(cluster, "important") == ["free"]
    assert node_of(cluster, "a") == "guarded"


def test_a_budget_is_violated_when_nothing_else_helps(cluster):
    add_node(cluster, "only", cpu="2")
    add_budget(cluster, "guard", 0, app="guarded")
    add_pods(cluster, low("a", "2", {"app": "guarded"}, nodeName="only"))

    add_pods(cluster, pod("important", "2", priorityClassName="high"))

    assert wait_leaving(cluster, "a") == ["a"]


def test_the_least_important_and_fewest_pods_go(cluster):
    add_node(cluster, "two-low", cpu="2")
    add_node(cluster, "one-middle", cpu="2")
    add_node(cluster, "one-low", cpu="2")
    settled(cluster, 3)
    add_pods(
        cluster,
        low("l1", nodeName="two-low"),
        low("l2", nodeName="two-low"),
        pod("m", "2", priorityClassName="middle", nodeName="one-middle"),
        low("l3", "2", nodeName="one-low"),
    )

    add_pods(cluster, pod("important", "2", priorityClassName="high"))
    gone = wait_leaving(cluster, "l1", "l2", "l3", "m")
    nominated = cluster.wait(
        lambda: get(cluster, "important")["status"].get("nominatedNodeName"), "the nomination", SECONDS
    )

    assert gone == ["l3"]
    assert nominated == "one-low"
    reasons = {event["reason"]: event["message"] for event in cluster.client.list(EVENTS, "default").items}
    uid = get(cluster, "important")["metadata"]["uid"]
    assert reasons["Preempted"] == f"Preempted by pod {uid} on node one-low"


def test_a_pod_that_never_preempts_waits(cluster):
    add_node(cluster, "only", cpu="2")
    polite = {"metadata": {"name": "polite"}, "value": 1000, "preemptionPolicy": "Never"}
    cluster.client.create(PRIORITY_CLASSES, polite)
    add_pods(cluster, low("a", "2", nodeName="only"), pod("waits", "2", priorityClassName="polite"))
    wait_message(cluster, "waits", "not eligible due to preemptionPolicy=Never.")

    before = leaving(cluster, "a")
    remove(cluster, "a")

    assert before == []
    assert wait_bound(cluster, "waits") == ["only"]


def test_no_pod_is_evicted_where_it_would_not_help(cluster):
    add_node(cluster, "small", cpu="1")
    add_pods(cluster, low("a", "1", nodeName="small"), pod("big", "4", priorityClassName="high"))

    said = wait_message(cluster, "big", "Preemption is not helpful for scheduling")

    assert said == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 Preemption is not helpful for scheduling."
    )
    assert leaving(cluster, "a") == []


def test_room_that_is_made_for_one_pod_is_not_taken_by_a_lesser_one(cluster):
    add_node(cluster, "only", cpu="2")
    slow = {"terminationGracePeriodSeconds": 3600}
    add_pods(cluster, low("victim", "2", nodeName="only", **slow), pod("first", "2", priorityClassName="high"))
    wait_leaving(cluster, "victim")
    cluster.wait(lambda: get(cluster, "first")["status"].get("nominatedNodeName"), "the nomination", SECONDS)
    cluster.client.delete(PODS, "victim", "default", options={"gracePeriodSeconds": 0})
    add_pods(cluster, pod("thief", "2", priorityClassName="middle"))

    assert wait_bound(cluster, "first") == ["only"]
    wait_message(cluster, "thief", "Insufficient cpu")
    assert node_of(cluster, "thief") is None


def test_a_more_important_pod_takes_over_the_room_made_for_another(cluster):
    add_node(cluster, "only", cpu="2")
    add_pods(cluster, low("victim", "2", nodeName="only", terminationGracePeriodSeconds=3600))
    add_pods(cluster, pod("second", "2", priorityClassName="middle"))
    cluster.wait(lambda: get(cluster, "second")["status"].get("nominatedNodeName"), "the nomination", SECONDS)

    add_pods(cluster, pod("first", "2", priorityClassName="high"))
    cluster.wait(lambda: get(cluster, "first")["status"].get("nominatedNodeName"), "the other nomination", SECONDS)
    cluster.wait(lambda: not get(cluster, "second")["status"].get("nominatedNodeName"), "the first to be lost", SECONDS)
    remove(cluster, "victim")

    assert wait_bound(cluster, "first") == ["only"]
    assert node_of(cluster, "second") is None
    assert "Insufficient cpu" in message_of(cluster, "second")


def test_a_more_important_pod_ends_anti_affinity_by_eviction(cluster):
    add_node(cluster, "only", cpu="8")
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    add_pods(cluster, low("holder", labels={"app": "db"}, affinity=apart))
    wait_bound(cluster, "holder")

    add_pods(cluster, pod("important", labels={"app": "db"}, affinity=apart, priorityClassName="high"))
    wait_leaving(cluster, "holder")
    remove(cluster, "holder")

    assert wait_bound(cluster, "important") == ["only"]
