"""Equal shares score highest, by upstream's integers."""

import pytest
from hyperkube_scheduler.node_resources_balanced_allocation import NodeResourcesBalancedAllocation

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError
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
    nodes = table()

    assert NodeResourcesBalancedAllocation(None).skips_score(
        pod_info({"spec": {"containers": [{"name": "c"}]}}, nodes), nodes
    )


GPU = "nvidia.com/gpu"
CPU_ONLY = ({"cpu": "1", "memory": "0"}, {"cpu": "2", "memory": "0"})
BOTH = ({"cpu": "1", "memory": "2000"}, {"cpu": "2", "memory": "3000"})
WITH_GPU = (BOTH[0], {**BOTH[1], GPU: "3"})
THREE = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 1}]


def pod_of(name, requests, on=""):
    rows = [{"name": f"c{number}", "resources": {"requests": each}} for number, each in enumerate(requests)]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


@pytest.mark.parametrize(
    ("resources", "sizes", "wanted", "placed", "expected"),
    [
        pytest.param((), [("4", "10000"), ("6", "10000")], BOTH, (), [87, 100], id="different sizes"),
        pytest.param((), [("10", "20000")] * 2, BOTH, (CPU_ONLY, BOTH), [82, 95], id="pods placed"),
        pytest.param((), [("10", "20000"), ("10", "50000")], BOTH, (CPU_ONLY, BOTH), [82, 80], id="both"),
        pytest.param((), [("6", "10000")] * 2, CPU_ONLY, (CPU_ONLY, BOTH), [50, 75], id="all that there is"),
        pytest.param(
            THREE,
            [("3500m", "40000", "8")] * 2,
            ({"memory": "0", GPU: "1"},),
            (WITH_GPU, BOTH),
            [70, 65],
            id="a device counts where it is requested",
        ),
        pytest.param(
            THREE,
            [("3500m", "40000", "8"), ("3500m", "40000")],
            BOTH,
            (),
            [63, 63],
            id="and else does not",
        ),
    ],
)
def test_scores_number_by_number(resources, sizes, wanted, placed, expected):
    """Source of the numbers: kubernetes ``plugins/noderesources/balanced_allocation_test.go``."""
    names = ("cpu", "memory", GPU)
    nodes = table(
        *({"name": f"n{number}", **dict(zip(names, each, strict=False))} for number, each in enumerate(sizes))
    )
    for number, requests in enumerate(placed):
        nodes.put_pod(pod_of(f"placed{number}", requests, f"n{number}"), f"n{number}")
    plugin = NodeResourcesBalancedAllocation(PluginContext(name="x", settings={"resources": resources}))

    assert plugin.score(pod_info(pod_of("new", wanted), nodes), nodes).tolist() == expected


def test_a_weight_other_than_1_is_a_mistake():
    with pytest.raises(UsageError, match="resource weight of cpu must be 1, not 2"):
        NodeResourcesBalancedAllocation(PluginContext(name="x", settings={"resources": [{"name": "cpu", "weight": 2}]}))


class TestContract(SchedulingContract):
    plugin = NodeResourcesBalancedAllocation
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (wants("3", "5000"),)
