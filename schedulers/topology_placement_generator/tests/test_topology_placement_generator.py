"""Which placements a group gets. Cases: kubernetes ``topologyaware/topology_placement_test.go`` (TestGeneratePlacements)."""

from typing import ClassVar

import numpy as np
import pytest
from hyperkube_scheduler.topology_placement_generator import TopologyPlacementGenerator, topology_key
from hyperkube_testing.scheduling.placements import PlacementContract
from hyperkube_testing.scheduling.tables import table

from hyperkube.hookspecs.pod_groups import NoPlacement, Placement, PodGroupInfo
from hyperkube.plugin import PluginContext


def labelled(*values, key="topology", start=0):
    """Return nodes, each with its value of the label; None: without the label."""
    return [
        {"name": f"node{index}", "labels": {} if value is None else {key: value}}
        for index, value in enumerate(values, start)
    ]


def generate(inside, outside=(), key="topology", placed=()):
    """Return placement name → nodes, of a group whose placed pods are on the nodes named."""
    nodes = table(*inside, *outside)
    constraints = {"schedulingConstraints": {"topology": [{"key": key}]}} if key else {}
    where = {f"ns/pod{index}": node for index, node in enumerate(placed)}
    group = PodGroupInfo(("ns", "group"), {"spec": constraints}, [], where)
    parent = Placement("parent", np.array([index < len(inside) for index in range(len(nodes))]))
    plugin = TopologyPlacementGenerator(PluginContext(name="TopologyPlacementGenerator"))
    found = plugin.generate_placements(group, nodes, parent)
    return {each.name: [name for name, kept in zip(nodes.names, each.nodes, strict=True) if kept] for each in found}


TWO_LABELS = [
    {"name": "node0", "labels": {"topology2": "d1"}},
    {"name": "node1", "labels": {"topology2": "d4"}},
    *labelled("d1", "d2", "d1", "d3", key="topology1", start=2),
]


def test_without_a_constraint_the_parent_is_all():
    inside = [{"name": "node1"}, {"name": "node2", "labels": {"foo": "bar"}}]

    assert generate(inside, [{"name": "node3"}], key="") == {"parent": ["node1", "node2"]}


def test_each_domain_is_a_placement():
    assert generate(TWO_LABELS, key="topology1") == {"d1": ["node2", "node4"], "d2": ["node3"], "d3": ["node5"]}


def test_without_the_label_there_is_none():
    assert generate(TWO_LABELS, key="topology3") == {}


@pytest.mark.parametrize(
    ("inside", "outside", "found"),
    [
        (("d2", "d1"), ("d1", "d1"), {"d1": ["node1"]}),
        (("d2",), (None, "d1", "d1"), {}),
        (("d1", ""), ("", ""), {"": ["node1"]}),
    ],
    ids=["one domain", "not in the placement", "empty domain"],
)
def test_placed_pods_fix_the_domain(inside, outside, found):
    nodes, others = labelled(*inside), labelled(*outside, start=len(inside))

    assert generate(nodes, others, placed=("node2", "node3")) == found


@pytest.mark.parametrize(
    ("outside", "placed", "why"),
    [
        (("d0", "d1"), ("node2", "node3"), "more than 1 domain found for pod group: d0, d1"),
        (("d1", "d1"), ("node2", "node4"), "getting node for pod ns/pod1: nodeinfo not found"),
        ((None,), ("node2",), "no topology domain found for pod ns/pod0"),
    ],
    ids=["two domains", "unknown node", "no label"],
)
def test_placed_pods_that_do_not_agree_fail_the_cycle(outside, placed, why):
    with pytest.raises(NoPlacement, match=f"cannot determine domain for already scheduled pods: {why}"):
        generate(labelled("d2", "d1"), labelled(*outside, start=2), placed=placed)


def test_the_first_constraint_counts():
    assert topology_key({"spec": {"schedulingConstraints": {"topology": [{"key": "rack"}]}}}) == "rack"
    assert topology_key({"spec": {"schedulingConstraints": {}}}) == ""
    assert topology_key({}) == ""


class TestPromises(PlacementContract):
    plugin = TopologyPlacementGenerator
    nodes = labelled("a", "b", "a", None, "b")
    groups = ({}, {"spec": {"schedulingConstraints": {"topology": [{"key": "topology"}]}}})


class TestPromisesOnceSomeArePlaced(TestPromises):
    placed: ClassVar = {"p": "node1"}
