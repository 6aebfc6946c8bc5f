"""Only the named node is kept."""

from hyperkube_scheduler.node_name import REASON, NodeNameFilter

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table


def test_only_the_named_node_is_kept():
    nodes = table({"name": "a"}, {"name": "b"})
    pod = pod_info({"spec": {"nodeName": "b"}}, nodes)

    result = NodeNameFilter(None).filter(pod, nodes)

    assert result.mask.tolist() == [False, True]
    assert result.reasons[REASON].tolist() == [True, False]


def test_it_skips_pods_without_a_node_name():
    assert NodeNameFilter(None).skips(pod_info({"spec": {}}, table()))


class TestContract(SchedulingContract):
    plugin = NodeNameFilter
    nodes = ({"name": "a"}, {"name": "b"})
    pods = ({"spec": {"nodeName": "b"}},)
