"""Where pods go, through the real API server: taints, host ports, affinity, topology spread, affinity to nodes."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from hyperkube_testing.cluster.cluster import ControlPlane
from scheduling_world import NO_ACCOUNTS, add_node, add_pods, node_of, pod, remove, settled, wait_bound, wait_message

from hyperkube.client.client import STRATEGIC_PATCH
from hyperkube.kinds.resources import NODES, PODS

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def cluster():
    with ControlPlane(controller_manager=None, apiserver=NO_ACCOUNTS) as running:
        yield running


def zones(cluster, *names):
    """Create nodes called by their zone's letter and a number."""
    for name in names:
        add_node(cluster, name, labels={ZONE: name[0]})
    settled(cluster, len(names))


def zone_of(cluster, name):
    return node_of(cluster, name)[0]


def test_taints_keep_pods_off_until_they_tolerate_them_or_the_taint_goes(cluster):
    taint = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    add_node(cluster, "tainted", taints=[taint])
    add_pods(cluster, pod("any"), pod("db", tolerations=[{"key": "dedicated", "operator": "Equal", "value": "db"}]))
    tolerant = wait_bound(cluster, "db")
    wait_message(cluster, "any", "1 node(s) had untolerated taint(s)")

    cluster.client.patch(NODES, "tainted", {"spec": {"taints": None}})

    assert tolerant == ["tainted"]
    assert wait_bound(cluster, "any") == ["tainted"]


def test_a_host_port_is_had_once_on_a_node(cluster):
    zones(cluster, "a1", "b1")

    def listener(name):
        made = pod(name)
        made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
        return made

    add_pods(cluster, listener("one"), listener("two"))
    nodes = wait_bound(cluster, "one", "two")
    add_pods(cluster, listener("three"))
    wait_message(cluster, "three", "2 node(s) didn't have free ports for the requested pod ports")
    remove(cluster, "one")

    assert sorted(nodes) == ["a1", "b1"]
    assert wait_bound(cluster, "three") == nodes[:1]


def test_pods_follow_those_they_like_into_their_zone(cluster):
    zones(cluster, "a1", "b1", "b2")
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    add_pods(cluster, pod("web-0", affinity=near))
    wait_message(cluster, "web-0", "3 node(s) didn't match pod affinity rules")

    add_pods(cluster, pod("db", labels={"app": "db"}, nodeSelector={ZONE: "b"}))
    add_pods(cluster, *(pod(f"web-{index}", affinity=near) for index in range(1, 4)))
    wait_bound(cluster, *(f"web-{index}" for index in range(4)))

    assert {zone_of(cluster, f"web-{index}") for index in range(4)} == {"b"}


def test_a_spread_holds_its_skew_whatever_the_zones_sizes(cluster):
    zones(cluster, "a1", "b1", "b2", "b3")
    constraint = {
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }  # fmt: skip
    web = {"app": "web"}
    names = [f"web-{index}" for index in range(6)]
    add_pods(cluster, *(pod(name, "10", web, topologySpreadConstraints=[constraint]) for name in names))
    wait_bound(cluster, *names)
    spread = Counter(zone_of(cluster, name) for name in names)
    add_pods(cluster, pod("seventh", "10", web, topologySpreadConstraints=[constraint]))
    wait_bound(cluster, "seventh")
    add_pods(cluster, pod("eighth", "10", web, topologySpreadConstraints=[constraint]))

    assert spread == {"a": 3, "b": 3}
    assert zone_of(cluster, "seventh") == "b"
    said = wait_message(cluster, "eighth", "node(s) didn't match pod topology spread constraints")
    assert "Insufficient cpu" in said


def test_required_nodes_bind_and_preferred_ones_draw(cluster):
    zones(cluster, "a1", "b1")
    in_zone = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [in_zone]}}}
    drawn = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": in_zone}],
        }
    }
    elsewhere = {"nodeSelector": {ZONE: "c"}}
    add_pods(cluster, pod("bound", affinity=required), pod("drawn", affinity=drawn), pod("lost", **elsewhere))

    nodes = wait_bound(cluster, "bound", "drawn")
    wait_message(cluster, "lost", "2 node(s) didn't match Pod's node affinity/selector")
    add_node(cluster, "c1", labels={ZONE: "c"})

    assert nodes == ["b1", "b1"]
    assert wait_bound(cluster, "lost") == ["c1"]


def test_a_pod_that_shrinks_makes_room(cluster):
    add_node(cluster, "only", cpu="4", labels={"kubernetes.io/os": "linux"})
    add_pods(cluster, pod("large", "4"))
    wait_bound(cluster, "large")
    add_pods(cluster, pod("waits", "2"))
    wait_message(cluster, "waits", "1 Insufficient cpu")

    smaller = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    change = {"spec": {"containers": smaller}}
    cluster.client.patch(PODS, "large", change, "default", subresource="resize", patch_type=STRATEGIC_PATCH)

    assert wait_bound(cluster, "waits") == ["only"]
