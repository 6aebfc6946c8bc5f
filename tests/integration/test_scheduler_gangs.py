"""Gangs through the real API server: all of them or none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from scheduling_world import NO_ACCOUNTS, SECONDS, add_node, add_pods, message_of, node_of, pod, wait_bound

from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.testing.cluster import ControlPlane

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


def test_a_gang_that_waits_too_long_gives_its_places_back(tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text("""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: GangScheduling
    args: {permitTimeoutSeconds: 0.5}
""")
    options = {**GATES, "config": str(path)}
    with ControlPlane(controller_manager=None, apiserver=SERVED, scheduler=options) as cluster:
        add_node(cluster, "node", cpu="3")
        add_group(cluster, "gang", 2)
        gate = [{"name": "example.com/wait"}]
        add_pods(cluster, member("gang-0"), member("gang-1", schedulingGates=gate))
        late = "permit plugin 'GangScheduling': not allowed within 0.5 s"
        cluster.wait(lambda: late in message_of(cluster, "gang-0"), late, SECONDS)

        add_pods(cluster, pod("alone", "3"))

        assert wait_bound(cluster, "alone") == ["node"]
        assert node_of(cluster, "gang-0") is None


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
