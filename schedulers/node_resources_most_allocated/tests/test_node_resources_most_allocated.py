"""Fuller nodes score higher, by upstream's integers."""

from hyperkube_scheduler.node_resources_most_allocated import NodeResourcesMostAllocated

from hyperkube.testing.contracts.scheduler import SchedulingContract
from hyperkube.testing.scheduling import pod_info, table


def wants(cpu, memory):
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}}


def test_different_sizes_score_by_their_used_share():
    # 3000m of 4000m and 5000 of 10000: (75 + 50) / 2 = 62; of 6000m: (50 + 50) / 2 = 50
    nodes = table({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})

    scores = NodeResourcesMostAllocated(None).score(pod_info(wants("3", "5000"), nodes), nodes)

    assert scores.tolist() == [62, 50]


def test_more_than_there_is_counts_as_full():
    nodes = table({"name": "a", "cpu": "1", "memory": "1000"})

    scores = NodeResourcesMostAllocated(None).score(pod_info(wants("3", "5000"), nodes), nodes)

    assert scores.tolist() == [100]


class TestContract(SchedulingContract):
    plugin = NodeResourcesMostAllocated
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (wants("3", "5000"),)
