"""Emptier nodes score higher, by upstream's integers."""

from hyperkube_scheduler.node_resources_least_allocated import NodeResourcesLeastAllocated

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table


def wants(cpu, memory):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}


def test_different_sizes_score_by_their_free_share():
    # 3000m of 4000m and 5000 of 10000 requested: (25 + 50) / 2 = 37; of 6000m: (50 + 50) / 2 = 50
    nodes = table({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})

    scores = NodeResourcesLeastAllocated(None).score(pod_info(wants("3", "5000"), nodes), nodes)

    assert scores.tolist() == [37, 50]


def test_more_than_there_is_scores_zero():
    nodes = table({"name": "a", "cpu": "1", "memory": "1000"})

    scores = NodeResourcesLeastAllocated(None).score(pod_info(wants("3", "5000"), nodes), nodes)

    assert scores.tolist() == [0]


class TestContract(SchedulingContract):
    plugin = NodeResourcesLeastAllocated
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (wants("3", "5000"),)
