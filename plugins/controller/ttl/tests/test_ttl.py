"""The ttl controller: the larger the cluster, the longer."""

import pytest
from hyperkube_controller.ttl import Ttl, seconds_for

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


def test_a_growing_cluster_changes_all_its_nodes():
    rig = ControllerRig(Ttl)
    rig.client.seed(NODES, *nodes(3))
    rig.settle()
    before = said(rig)

    rig.client.seed(NODES, *nodes(101, 3))
    rig.settle()

    assert before == {"0"}
    assert said(rig) == {"15"}
