"""Nodes that the pod brings into balance score highest, case by case.

Source of the numbers: kubernetes 1.36 ``pkg/scheduler/framework/plugins/noderesources/balanced_allocation_test.go``.
"""

import pytest
from hyperkube_scheduler.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, scores, table

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError

GPU = "nvidia.com/gpu"
NAMES = ("cpu", "memory", GPU)
THREE = [{"name": name, "weight": 1} for name in NAMES]


def amounts(*given):
    return {name: value for name, value in zip(NAMES, given, strict=False) if value is not None}


def pod(name, *requests, on=""):
    rows = [{"name": f"c{number}", "resources": {"requests": each}} for number, each in enumerate(requests)]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


def found(resources, sizes, wanted, placed=()):
    """Score the pod with these requests on nodes of these sizes, each with the pod of that place on it."""
    nodes = table(*({"name": f"n{number}", **amounts(*each)} for number, each in enumerate(sizes)))
    for number, requests in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", *requests, on=f"n{number}"), f"n{number}")
    plugin = NodeResourcesBalancedAllocation(PluginContext(name="x", settings={"resources": resources}))
    return scores(plugin, pod_info(pod("new", *wanted), nodes), nodes)


CPU_ONLY = (amounts("1"), amounts("2"))
BOTH = (amounts("1", "2000"), amounts("2", "3000"))
WITH_GPU = (amounts("1", "2000"), amounts("2", "3000", "3"))
MEMORY_ONLY = (amounts(None, "2000"), amounts(None, "3000"))


@pytest.mark.parametrize(
    ("resources", "sizes", "wanted", "placed", "expected"),
    [
        pytest.param((), [("4", "10000")] * 2, (), (), None, id="nothing requested"),
        pytest.param((), [("4", "10000"), ("6", "10000")], BOTH, (), [68, 75], id="different sizes"),
        pytest.param((), [("10", "20000")] * 2, BOTH, (CPU_ONLY, BOTH), [73, 74], id="pods placed"),
        pytest.param((), [("10", "20000"), ("10", "50000")], BOTH, (CPU_ONLY, BOTH), [73, 70], id="both"),
        pytest.param((), [("3", "5000")] * 2, MEMORY_ONLY, (CPU_ONLY, ()), [100, 50], id="best and worst"),
        pytest.param((), [("6", "10000")] * 2, CPU_ONLY, (CPU_ONLY, BOTH), [62, 62], id="all that there is"),
        pytest.param(
            THREE,
            [("3500m", "40000", "8")] * 2,
            (amounts("0", "0", "1"),),
            (WITH_GPU, BOTH),
            [75, 76],
            id="a device counts where it is requested",
        ),
        pytest.param(
            THREE, [("3500m", "40000", "8"), ("3500m", "40000")], BOTH, (), [56, 56], id="and else it does not"
        ),
    ],
)
def test_scores_number_by_number(resources, sizes, wanted, placed, expected):
    assert found(resources, sizes, wanted, placed) == expected


def test_where_one_of_three_resources_is_missing_the_other_two_are_compared():
    """Half the difference of the two, as for two resources: 75 % and 50 % used leave 87, and 100 without the pod."""
    wanted = (amounts("3", "5000", "1"),)

    assert found(THREE, [("4", "10000"), ("4", "10000", "2")], wanted)[0] == 50 + (50 + 87 - 100) // 2


def test_the_number_of_pods_is_no_resource_to_balance():
    assert found([{"name": "pods", "weight": 1}], [("4", "10000")], BOTH) is None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([{"name": "cpu", "weight": 2}], "resources[0].weight: Invalid value: 2: must be 1", id="weight"),
        pytest.param([{"name": "cpu"}, {"name": "cpu"}], 'resources[1].name: Duplicate value: "cpu"', id="twice"),
    ],
)
def test_settings_that_mean_nothing_are_mistakes(rows, said):
    with pytest.raises(UsageError) as raised:
        found(rows, [("4", "10000")], BOTH)

    assert str(raised.value) == said


class TestContract(SchedulingContract):
    plugin = NodeResourcesBalancedAllocation
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (pod("new", amounts("3", "5000")),)
