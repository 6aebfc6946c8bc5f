"""The ttl controller: the larger the cluster, the longer.

The tables have the cases of kubernetes ``ttl_controller_test.go``.
"""

import pytest
from hyperkube_controller.ttl import ANNOTATION, STEPS, Ttl, decide, seconds_for

from hyperkube.kinds.resources import NODES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


def nodes(count, start=0):
    return [{"kind": "Node", "metadata": {"name": f"n{index}"}} for index in range(start, count)]


def said(rig):
    return {node["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] for node in rig.client.objects(NODES)}


class TestContract(ControllerContract):
    plugin = Ttl

    def populate(self, rig):
        rig.client.seed(NODES, *nodes(3))


@pytest.mark.parametrize(
    ("count", "before", "after"),
    [
        (100, 0, 0),
        (101, 0, 1),
        (95, 1, 1),
        (89, 1, 0),
        (6000, 0, 4),
        (10_000, 0, 4),
        (10_001, 4, 5),
        (9000, 5, 5),
        (8999, 5, 4),
        (1799, 4, 3),
        (1, 4, 0),
    ],
)
def test_steps(count, before, after):
    assert seconds_for(count, before) == after


@pytest.mark.parametrize(
    ("annotations", "seconds", "written"),
    [
        (None, 0, "0"),
        (None, 10, "10"),
        ({}, 10, "10"),
        ({ANNOTATION: "0"}, 10, "10"),
        ({ANNOTATION: "0", "a": "b"}, 10, "10"),
        ({ANNOTATION: "10", "a": "b"}, 10, None),
        (None, 15, "15"),
        (None, 30, "30"),
        ({ANNOTATION: "0"}, 60, "60"),
        ({ANNOTATION: "60"}, 60, None),
        ({ANNOTATION: "60"}, 30, "30"),
    ],
)
def test_a_node_is_written_when_it_says_something_else(annotations, seconds, written):
    meta = {"name": "name"} if annotations is None else {"name": "name", "annotations": annotations}
    patches = [action.patch for action in decide({"kind": "Node", "metadata": meta}, seconds)]

    assert patches == ([] if written is None else [{"metadata": {"annotations": {ANNOTATION: written}}}])


@pytest.mark.parametrize(
    ("nodes_before", "change", "step", "expected"),
    [
        (0, +1, 0, 0),
        (99, +1, 0, 0),
        (100, +1, 0, 15),
        (101, -1, 1, 15),
        (91, -1, 1, 15),
        (91, +1, 1, 15),
        (90, -1, 1, 0),
    ],
)
def test_a_node_more_or_less_changes_the_seconds_at_the_borders(nodes_before, change, step, expected):
    assert STEPS[seconds_for(nodes_before + change, step)][2] == expected


def test_a_growing_cluster_changes_all_its_nodes():
    rig = ControllerRig(Ttl)
    rig.client.seed(NODES, *nodes(3))
    rig.settle()
    before = said(rig)

    rig.client.seed(NODES, *nodes(101, 3))
    rig.settle()

    assert before == {"0"}
    assert said(rig) == {"15"}
