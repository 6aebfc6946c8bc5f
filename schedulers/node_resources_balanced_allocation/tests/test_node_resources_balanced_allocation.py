"""Equal shares score highest, by upstream's integers."""

from hyperkube_scheduler.node_resources_balanced_allocation import NodeResourcesBalancedAllocation

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table


def wants(cpu, memory):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}


def test_shares_that_differ_cost_points():
    # shares 75 % and 50 %: 1 - 0.25 / 2 = 87; 50 % and 50 %: 100
    nodes = table({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})

    scores = NodeResourcesBalancedAllocation(None).score(pod_info(wants("3", "5000"), nodes), nodes)

    assert scores.tolist() == [87, 100]


def test_a_pod_without_requests_is_skipped():
    assert NodeResourcesBalancedAllocation(None).skips(pod_info({"spec": {"containers": [{"name": "c"}]}}, table()))


class TestContract(SchedulingContract):
    plugin = NodeResourcesBalancedAllocation
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (wants("3", "5000"),)
