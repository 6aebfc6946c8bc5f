"""Counts per node and domain, node selectors, and scores of resources."""

import numpy as np
import pytest
from hyperkube_lib.scheduling.node_selectors import is_broken, required, term, tolerated
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node
from hyperkube_lib.scheduling.resource_scores import by_shape, shape_of, weights_of
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import REPLICA_SETS, SERVICES
from hyperkube.machinery.errors import UsageError


def pod(name, **labels):
    return {
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"containers": [{"name": "c"}]},
    }


def zones():
    return table({"name": "a", "labels": {"zone": "z1"}}, {"name": "b", "labels": {"zone": "z2"}}, {"name": "c"})


def test_pods_are_counted_per_node_and_domain():
    nodes = zones()
    for name, node in (("one", "a"), ("two", "a"), ("three", "b"), ("four", "c")):
        nodes.put_pod(pod(name, app="web"), node)

    counts = per_node(nodes.pod_counts(), 3)
    sums, there, codes = per_domain(nodes, "zone", counts)

    assert counts.tolist() == [2, 1, 1]
    assert sums[codes].tolist() == [2, 1, 0]
    assert there[codes].tolist() == [True, True, False]


def test_what_a_pod_requires_of_its_node():
    nodes = zones()
    taint = {"key": "gpu", "effect": "NoSchedule"}
    nodes.put_node({**nodes.node(2), "spec": {"taints": [taint]}})
    new = {"spec": {"nodeSelector": {"zone": "z1"}, "tolerations": []}}

    assert required(new, nodes).tolist() == [True, False, False]
    assert tolerated(new, nodes).tolist() == [True, True, False]


def test_a_broken_line_is_interpolated():
    nodes = table({"name": "a", "cpu": "4", "memory": "4Gi"})
    new = pod_info({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}, nodes)
    shape = shape_of(
        [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 10}, {"utilization": 100, "score": 0}]
    )

    assert by_shape(new, nodes, {"cpu": 1}, shape).tolist() == [50]


def test_weights_have_limits():
    with pytest.raises(UsageError, match=r"^resources\[0\]\.weight: Invalid value: 101: .* \(0, 100\]$"):
        weights_of([{"name": "cpu", "weight": 101}])


def test_weights_may_have_no_upper_limit():
    with pytest.raises(UsageError, match=r"not in valid range \[1, inf\)$"):
        weights_of([{"name": "cpu", "weight": -1}], greatest=None)

    assert weights_of([{"name": "cpu", "weight": 101}], greatest=None) == {"cpu": 101}


def test_a_weight_that_is_left_out_is_one_and_a_name_twice_has_the_sum():
    assert weights_of([{"name": "cpu"}, {"name": "memory", "weight": 0}, {"name": "cpu", "weight": 2}]) == {
        "cpu": 3,
        "memory": 1,
    }


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([], "line: Required value: at least one point must be specified", id="empty"),
        pytest.param([(10, 1), (10, 2)], "line[1].utilization: Invalid value: 10: values must be sorted", id="order"),
        pytest.param([(101, 1)], "line[0].utilization: Invalid value: 101: not in valid range [0, 100]", id="used"),
        pytest.param([(0, 1), (1, 11)], "line[1].score: Invalid value: 11: not in valid range [0, 10]", id="score"),
    ],
)
def test_a_shape_that_is_no_line_is_a_mistake(rows, said):
    with pytest.raises(UsageError) as raised:
        shape_of([{"utilization": used, "score": score} for used, score in rows], "line")

    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("requirement", "broken"),
    [
        pytest.param({"key": "zone", "operator": "In", "values": ["z1"]}, False, id="fine"),
        pytest.param({"key": "zone", "operator": "In"}, True, id="in nothing"),
        pytest.param({"key": "not a key", "operator": "Exists"}, True, id="key"),
        pytest.param({"key": "zone", "operator": "Exists", "values": ["z1"]}, True, id="values for exists"),
        pytest.param({"key": "zone", "operator": "NotIn", "values": ["not a value"]}, True, id="value"),
        pytest.param({"key": "zone", "operator": "Gt", "values": ["0204"]}, False, id="number"),
        pytest.param({"key": "zone", "operator": "Gt", "values": ["1_0"]}, True, id="no number"),
        pytest.param({"key": "zone", "operator": "Lt", "values": ["1", "2"]}, True, id="two numbers"),
        pytest.param({"key": "zone", "operator": "Like", "values": ["z"]}, True, id="operator"),
    ],
)
def test_a_broken_requirement_matches_nothing(requirement, broken):
    nodes = zones()

    assert is_broken(requirement) is broken
    assert not broken or not term({"matchExpressions": [requirement]}, nodes).any()


def test_pods_of_one_service_and_replica_set_belong_together():
    client = FakeClient()
    client.create(SERVICES, {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}})
    selector = {"matchLabels": {"hash": "1"}}
    client.create(REPLICA_SETS, {"metadata": {"name": "r", "namespace": "default"}, "spec": {"selector": selector}})
    informers = InformerFactory(client)
    informers.start()
    owned = pod("web", app="web", hash="1")
    owned["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "controller": True}
    ]

    both = Owners(informers).default_selector(owned)
    neither = Owners(informers).default_selector(pod("alone"))
    informers.stop()

    assert both.matches({"app": "web", "hash": "1"})
    assert not both.matches({"app": "web"})
    assert neither is None


def test_scores_are_integers():
    nodes = zones()

    assert per_node([], 3).dtype == np.int64
    assert per_node(nodes.pod_counts(), 3).tolist() == [0, 0, 0]
