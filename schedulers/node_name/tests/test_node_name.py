"""Only the named node is kept, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/nodename/node_name_test.go``.
"""

import pytest
from hyperkube_scheduler.node_name import REASON, NodeNameFilter
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(None, "", id="none is named"),
        pytest.param("foo", "", id="this one"),
        pytest.param("bar", f"! {REASON}", id="another"),
    ],
)
def test_only_the_named_node_is_kept(wanted, expected):
    nodes = table({"name": "foo"})
    pod = pod_info({"spec": {"nodeName": wanted} if wanted else {}}, nodes)

    assert verdicts(NodeNameFilter(None), pod, nodes) == [expected]


def test_the_reason_is_upstreams():
    assert REASON == "node(s) didn't match the requested node name"


def test_it_is_asked_again_when_a_node_came():
    """Upstream registers Node add."""
    assert NodeNameFilter.events_to_register == {"node"}


class TestContract(SchedulingContract):
    plugin = NodeNameFilter
    nodes = ({"name": "a"}, {"name": "b"})
    pods = ({"spec": {"nodeName": "b"}},)
