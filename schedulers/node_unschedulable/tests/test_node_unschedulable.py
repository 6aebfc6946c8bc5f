"""Cordoned nodes are refused, unless tolerated, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable_test.go``.
"""

import pytest
from hyperkube_scheduler.node_unschedulable import REASON, NodeUnschedulable
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

KEY = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("tolerations", "cordoned", "expected"),
    [
        pytest.param([], True, f"! {REASON}", id="cordoned"),
        pytest.param([], False, "", id="not cordoned"),
        pytest.param([{"key": KEY, "effect": "NoSchedule"}], True, "", id="tolerated"),
        pytest.param([{"operator": "Exists"}], True, "", id="everything is tolerated"),
        pytest.param([{"key": "unrelated-key", "operator": "Exists"}], True, f"! {REASON}", id="something else is"),
    ],
)
def test_cordoned_nodes(tolerations, cordoned, expected):
    nodes = table({"name": "a", "unschedulable": cordoned})
    pod = pod_info({"spec": {"tolerations": tolerations}}, nodes)

    assert verdicts(NodeUnschedulable(None), pod, nodes) == [expected]


def test_the_reason_is_upstreams():
    assert REASON == "node(s) were unschedulable"


def test_a_pod_that_tolerates_cordoned_nodes_skips_it():
    toleration = {"key": KEY, "operator": "Exists"}

    assert NodeUnschedulable(None).skips(pod_info({"spec": {"tolerations": [toleration]}}, table()))


def test_it_is_asked_again_when_a_node_changed():
    """Upstream registers Node add and taint; a pod whose tolerations changed is always tried again here."""
    assert NodeUnschedulable.events_to_register == {"node"}


class TestContract(SchedulingContract):
    plugin = NodeUnschedulable
    nodes = ({"name": "a", "unschedulable": True}, {"name": "b"})
    pods = ({"spec": {}},)
