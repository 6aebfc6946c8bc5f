"""Cordoned nodes are refused, unless tolerated."""

from hyperkube_scheduler.node_unschedulable import REASON, NodeUnschedulable

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table


def test_a_cordoned_node_is_refused():
    nodes = table({"name": "a", "unschedulable": True}, {"name": "b"})

    result = NodeUnschedulable(None).filter(pod_info({"spec": {}}, nodes), nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[REASON].tolist() == [True, False]


def test_a_pod_that_tolerates_cordoned_nodes_skips_it():
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}

    assert NodeUnschedulable(None).skips(pod_info({"spec": {"tolerations": [toleration]}}, table()))


class TestContract(SchedulingContract):
    plugin = NodeUnschedulable
    nodes = ({"name": "a", "unschedulable": True}, {"name": "b"})
    pods = ({"spec": {}},)
