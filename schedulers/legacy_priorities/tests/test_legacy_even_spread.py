"""What 1.16, where they were new, gave for soft spread constraints, row by row.

Source of the numbers: kubernetes 1.16 ``pkg/scheduler/algorithm/priorities/even_pods_spread_test.go``.
"""

import numpy as np
import pytest
from hyperkube_scheduler.legacy_priorities import EvenPodsSpreadPriority
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table

F, B, FB = {"foo": ""}, {"bar": ""}, {"foo": "", "bar": ""}
ABXY = tuple({"node": f"node-{name}", "zone": zone} for name, zone in ("a1", "b1", "x2", "y2"))
NODE, ZONE_OR_NODE = (("node", "foo"),), (("zone", "foo"), ("node", "bar"))


def pod(name, labels, **spec):
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    return {"metadata": meta, "spec": {"containers": [{"name": "c"}], **spec}}


def spread(*constraints, **spec):
    rows = [
        {
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchExpressions": [{"key": label, "operator": "Exists"}]},
        }
        for key, label in constraints
    ]
    return pod("p", FB, topologySpreadConstraints=rows, **spec)


def there(*counts):
    return tuple((column, F) for column, count in enumerate(counts) for _ in range(count))


def world(labels, placed):
    nodes = table(*({"name": f"machine{number}", "labels": each} for number, each in enumerate(labels)))
    for number, (column, about) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", about), f"machine{column}")
    return nodes


def scores(labels, wanted, placed, failed=()):
    """Return the scores of the nodes that did not fail."""
    nodes = world(labels, placed)
    feasible = np.array([column not in failed for column in range(len(nodes))])
    plugin, info = EvenPodsSpreadPriority(None), pod_info(wanted, nodes)
    return plugin.normalize(info, nodes, plugin.score(info, nodes), feasible)[feasible].tolist()


@pytest.mark.parametrize(
    ("constraints", "placed", "failed", "expected"),
    [
        pytest.param(NODE, (), (2, 3), [10, 10], id="no existing pods"),
        pytest.param(NODE, there(2, 1), (1, 2, 3), [10], id="only one node is candidate"),
        pytest.param(NODE, there(1, 1), (2, 3), [10, 10], id="all nodes have the same number of matching pods"),
        pytest.param(NODE, there(2, 1, 0, 3), (), [6, 8, 10, 5], id="all 4 nodes are candidates"),
        pytest.param(NODE, there(4, 2, 1, 3), (3,), [5, 8, 10], id="3 out of 4 nodes are candidates"),
        pytest.param((("zone", "foo"),), there(4, 2, 1, 3), (3,), [8, 8, 10], id="on zone, 3 out of 4"),
        pytest.param(
            (("zone", "foo"), ("node", "foo")), there(2, 1, 2, 4), (1, 3), [10, 6], id="on zone and node, 2 out of 4"
        ),
        pytest.param(
            ZONE_OR_NODE, ((0, F), (1, FB), (3, F), (3, B)), (), [8, 7, 10, 8], id="different label selectors"
        ),
        pytest.param(ZONE_OR_NODE, ((1, B), (2, F), (3, FB)), (), [10, 8, 6, 5], id="some nodes have 0 pods"),
        pytest.param(
            ZONE_OR_NODE,
            ((0, F), (1, FB), (3, F), (3, B)),
            (3,),
            [8, 6, 10],
            id="different label selectors, 3 out of 4",
        ),
    ],
)
def test_soft_constraints(constraints, placed, failed, expected):
    assert scores(ABXY, spread(*constraints), placed, failed) == expected


def test_a_node_without_the_topology_key_scores_0():
    labels = ({"node": "node-a"}, {"n": "node-b"}, {"node": "node-x"}, {"node": "node-y"})

    assert scores(labels, spread(*NODE), there(4, 2, 1, 3), (3,)) == [2, 0, 10]


def test_pods_on_nodes_that_the_pod_does_not_select_are_not_counted():
    labels = ({"zone": "a", "disk": "ssd"}, {"zone": "a"}, {"zone": "b", "disk": "ssd"})
    wanted = spread(("zone", "foo"), nodeSelector={"disk": "ssd"})

    assert scores(labels, wanted, there(1, 7, 1), (1,)) == [10, 10]


def test_a_pod_without_soft_constraints_is_left_to_others():
    assert EvenPodsSpreadPriority(None).skips(pod_info(pod("p", F), world(ABXY, ())))


class TestContract(SchedulingContract):
    plugin = EvenPodsSpreadPriority
    nodes = ({"name": "a"}, {"name": "b"})
    pods = (spread(("zone", "foo")),)

    def world(self):
        nodes = world(ABXY, there(1))
        return nodes, [pod_info(each, nodes) for each in self.pods]
