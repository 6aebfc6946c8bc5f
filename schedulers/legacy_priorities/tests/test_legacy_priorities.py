"""The numbers of 1.x, 0 to 10, row by row.

Source of the numbers: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/`` (least_requested_test.go,
most_requested_test.go, balanced_resource_allocation_test.go, node_affinity_test.go, taint_toleration_test.go,
image_locality_test.go, node_prefer_avoid_pods_test.go).
"""

import json

import numpy as np
import pytest
from hyperkube_scheduler import legacy_priorities as priorities

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import node, pod_info, table

CPU, BOTH = ((3000, 0),), ((1000, 2000), (2000, 3000))
EVEN, UNEVEN = ((4000, 10000),) * 2, ((4000, 10000), (6000, 10000))
LARGE, LARGER = ((10000, 20000),) * 2, ((10000, 20000), (10000, 50000))


def pod(name, requests, on="", **spec):
    rows = [
        {"name": f"c{number}", "resources": {"requests": {"cpu": f"{cpu}m", "memory": str(memory)}}}
        for number, (cpu, memory) in enumerate(requests)
    ]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on, **spec}}


def scores(plugin, capacities, wanted, placed):
    nodes = table(
        *(
            {"name": f"n{number}", "cpu": f"{cpu}m", "memory": str(memory)}
            for number, (cpu, memory) in enumerate(capacities)
        )
    )
    for number, (column, requests) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", requests, f"n{column}"), f"n{column}")
    return plugin(None).score(pod_info(pod("new", wanted), nodes), nodes).tolist()


PLACED = ((0, CPU), (0, CPU), (1, CPU), (1, BOTH))
ONE_EACH = ((0, CPU), (1, BOTH))


@pytest.mark.parametrize(
    ("capacities", "wanted", "placed", "least", "most", "balanced"),
    [
        pytest.param(EVEN, (), (), [10, 10], [0, 0], [10, 10], id="nothing placed, nothing requested"),
        pytest.param(UNEVEN, BOTH, (), [3, 5], [6, 5], [7, 10], id="different sizes"),
        pytest.param(LARGE, (), PLACED, [7, 5], [3, 4], [4, 6], id="placed pods request"),
        pytest.param(LARGE, BOTH, ONE_EACH, [5, 4], [4, 5], [6, 9], id="both request"),
        pytest.param(LARGER, BOTH, ONE_EACH, [5, 6], [4, 4], [6, 6], id="both, and different sizes"),
        pytest.param(EVEN, CPU, ONE_EACH, [5, 2], [0, 2], [0, 0], id="more than there is"),
        pytest.param(((0, 0),) * 2, (), ONE_EACH, [0, 0], [0, 0], [0, 0], id="nodes that have nothing"),
    ],
)
def test_resources(capacities, wanted, placed, least, most, balanced):
    assert scores(priorities.LeastRequestedPriority, capacities, wanted, placed) == least
    assert scores(priorities.MostRequestedPriority, capacities, wanted, placed) == most
    assert scores(priorities.BalancedResourceAllocation, capacities, wanted, placed) == balanced


def normalized(plugin, nodes, wanted):
    built = plugin(None)
    info = pod_info(wanted, nodes)
    return built.normalize(info, nodes, built.score(info, nodes), np.ones(len(nodes), dtype=bool)).tolist()


def test_preferred_nodes():
    def prefers(weight, **wanted):
        rows = [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]
        return {"weight": weight, "preference": {"matchExpressions": rows}}

    terms = [prefers(2, foo="bar"), prefers(4, key="value"), prefers(5, foo="bar", key="value", az="az1")]
    rule = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    nodes = table(
        {"name": "one", "labels": {"foo": "bar"}},
        {"name": "five", "labels": {"foo": "bar", "key": "value", "az": "az1"}},
        {"name": "two", "labels": {"key": "value"}},
    )

    assert normalized(priorities.NodeAffinityPriority, nodes, pod("new", (), affinity=rule)) == [1, 10, 3]


def test_soft_taints():
    soft = [{"key": key, "value": "arm64", "effect": "PreferNoSchedule"} for key in ("cpu-type", "disk-type")]
    nodes = table({"name": "a"}, {"name": "b", "taints": soft[:1]}, {"name": "c", "taints": soft})

    assert normalized(priorities.TaintTolerationPriority, nodes, pod("new", ())) == [10, 5, 0]


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        pytest.param(("gcr.io/40", "gcr.io/250"), [0, 1], id="two images on two nodes"),
        pytest.param(("gcr.io/40", "gcr.io/300"), [1, 0], id="two images on one node"),
        pytest.param(("gcr.io/10", "gcr.io/2000"), [10, 0], id="more than counts"),
    ],
)
def test_images(images, expected):
    nodes = table()
    for name, sizes in (("machine1", (40, 300, 2000)), ("machine2", (250, 10))):
        made = node(name)
        made["status"]["images"] = [{"names": [f"gcr.io/{size}:latest"], "sizeBytes": size * 2**20} for size in sizes]
        nodes.put_node(made)
    wanted = {"spec": {"containers": [{"name": str(number), "image": image} for number, image in enumerate(images)]}}

    assert normalized(priorities.ImageLocalityPriority, nodes, wanted) == expected


def test_nodes_that_avoid_a_controller():
    avoid = {"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicationController", "uid": "abc"}}}]}
    nodes = table({"name": "plain"})
    for name, text in (("avoids", json.dumps(avoid)), ("broken", "{")):
        made = node(name)
        made["metadata"]["annotations"] = {priorities.AVOID: text}
        nodes.put_node(made)
    wanted = pod("new", ())
    wanted["metadata"]["ownerReferences"] = [
        {"kind": "ReplicationController", "uid": "abc", "name": "x", "controller": True}
    ]

    assert normalized(priorities.NodePreferAvoidPodsPriority, nodes, wanted) == [10, 0, 10]
    assert normalized(priorities.NodePreferAvoidPodsPriority, nodes, pod("other", ())) == [10, 10, 10]


def test_all_alike():
    assert normalized(priorities.EqualPriority, table({"name": "a"}, {"name": "b"}), pod("new", ())) == [1, 1]


class TestContract(SchedulingContract):
    plugin = priorities.LeastRequestedPriority
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (pod("new", BOTH),)
