"""Emptier nodes score higher, case by case.

Source of the numbers: kubernetes 1.22
``pkg/scheduler/framework/plugins/noderesources/least_allocated_test.go``.
"""

import pytest
from hyperkube_scheduler.node_resources_least_allocated import NodeResourcesLeastAllocated
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, scores, table

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError

DEVICE = "abc.com/xyz"
MEMORY_TWICE = [{"name": "memory", "weight": 2}, {"name": "cpu", "weight": 1}]
WITH_DEVICE = [{"name": name, "weight": 1} for name in ("cpu", "memory", DEVICE)]


def size(cpu, memory, **more):
    return {"cpu": str(cpu), "memory": str(memory), **more}


def pod(*requests, on=""):
    rows = [{"name": f"c{number}", "resources": {"requests": each}} for number, each in enumerate(requests) if each]
    return {"metadata": {"name": on or "new", "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


def found(resources, sizes, wanted, placed=()):
    settings = {"resources": resources} if resources is not None else {}
    nodes = table(*({"name": f"n{number}", **each} for number, each in enumerate(sizes)))
    for number, (column, requests) in enumerate(placed):
        one = pod(requests, on=f"n{column}")
        one["metadata"]["name"] = f"placed{number}"
        nodes.put_pod(one, f"n{column}")
    plugin = NodeResourcesLeastAllocated(PluginContext(name="x", settings=settings))
    return scores(plugin, pod_info(pod(*wanted), nodes), nodes)


CPU, BOTH, ASKING = size(3, 0), size(3, 5000), size(3, 5000, **{DEVICE: "2"})
EVEN, UNEVEN, LARGE = (size(4, 10000),) * 2, (size(4, 10000), size(6, 10000)), (size(10, 20000),) * 2
LARGER, NOTHING = (size(10, 20000), size(10, 50000)), (size(0, 0),) * 2
HALF_HAVE_IT = (size(6, 10000), size(6, 10000, **{DEVICE: "4"}))
BOTH_HAVE_IT = (size(6, 10000, **{DEVICE: "4"}), size(6, 10000, **{DEVICE: "10"}))


@pytest.mark.parametrize(
    ("resources", "sizes", "wanted", "placed", "expected"),
    [
        pytest.param(None, EVEN, (), (), [100, 100], id="nothing placed, nothing requested"),
        pytest.param(None, UNEVEN, (BOTH,), (), [37, 50], id="nodes of different size"),
        pytest.param(None, EVEN, (), ((0, {}), (0, {}), (1, {}), (1, {})), [100, 100], id="placed pods are empty"),
        pytest.param(None, LARGE, (), ((0, CPU), (0, CPU), (1, CPU), (1, BOTH)), [70, 57], id="placed pods request"),
        pytest.param(None, LARGE, (BOTH,), ((0, CPU), (1, BOTH)), [57, 45], id="both request"),
        pytest.param(None, LARGER, (BOTH,), ((0, CPU), (1, BOTH)), [57, 60], id="both, and different sizes"),
        pytest.param(None, EVEN, (CPU,), ((0, CPU), (1, BOTH)), [50, 25], id="more than there is"),
        pytest.param(None, NOTHING, (), ((0, CPU), (1, BOTH)), [0, 0], id="nodes that have nothing"),
        pytest.param(MEMORY_TWICE, UNEVEN, (BOTH,), (), [41, 50], id="weights"),
        pytest.param(WITH_DEVICE, HALF_HAVE_IT, (BOTH,), (), [50, 50], id="a device that is not requested"),
        pytest.param(WITH_DEVICE, BOTH_HAVE_IT, (ASKING,), (), [50, 60], id="a device that is requested"),
    ],
)
def test_scores_number_by_number(resources, sizes, wanted, placed, expected):
    assert found(resources, sizes, wanted, placed) == expected


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [{"name": "memory", "weight": -1}, {"name": "cpu", "weight": 1}],
            "resources[0].weight: Invalid value: -1: resource weight of memory not in valid range (0, 100]",
            id="negative",
        ),
        pytest.param(
            [{"name": "memory", "weight": 120}],
            "resources[0].weight: Invalid value: 120: resource weight of memory not in valid range (0, 100]",
            id="more than a score",
        ),
    ],
)
def test_a_weight_out_of_range_is_a_mistake(rows, said):
    with pytest.raises(UsageError) as raised:
        found(rows, EVEN, (BOTH,))

    assert str(raised.value) == said


class TestContract(SchedulingContract):
    plugin = NodeResourcesLeastAllocated
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (pod(BOTH),)
