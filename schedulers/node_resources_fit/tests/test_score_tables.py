"""Scores of the strategies, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/noderesources/`` (least_allocated_test.go,
most_allocated_test.go). Amounts there are in whole cpus and bytes, and so they are here.
"""

import pytest
from hyperkube_scheduler.node_resources_fit import NodeResourcesFit

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError
from hyperkube.testing.scheduling import pod_info, table

BOTH = [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]
MEMORY_TWICE = [{"name": "memory", "weight": 2}, {"name": "cpu", "weight": 1}]
DEVICE = "example.com/device"
WITH_DEVICE = [*BOTH, {"name": DEVICE, "weight": 1}]
DEVICE_TWICE = [{"name": DEVICE, "weight": 2}, *BOTH]


def pod(name, *requests, on=""):
    rows = [{"name": f"c{number}", "resources": {"requests": each}} for number, each in enumerate(requests)]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


def wants(cpu, memory, **more):
    return {"cpu": str(cpu), "memory": str(memory), **more}


def scores(strategy, resources, capacities, wanted, placed):
    context = PluginContext(
        name="NodeResourcesFit", settings={"scoringStrategy": {"type": strategy, "resources": resources}}
    )
    nodes = table(*({"name": f"n{number}", **each} for number, each in enumerate(capacities)))
    for number, (column, requests) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", requests, on=f"n{column}"), f"n{column}")
    return NodeResourcesFit(context).score(pod_info(pod("new", *wanted), nodes), nodes).tolist()


ASKED = (wants(1000, 2000), wants(2000, 3000))
EVEN = (wants(4000, 10000), wants(4000, 10000))
UNEVEN = (wants(4000, 10000), wants(6000, 10000))
LARGE = (wants(10000, 20000), wants(10000, 20000))
LARGER = (wants(10000, 20000), wants(10000, 50000))
NOTHING = (wants(0, 0), wants(0, 0))
CPU, BOTH_ASKED = wants(3000, 0), wants(3000, 5000)


@pytest.mark.parametrize(
    ("resources", "capacities", "wanted", "placed", "expected"),
    [
        pytest.param(BOTH, EVEN, (), (), [100, 100], id="nothing placed, nothing requested"),
        pytest.param(BOTH, UNEVEN, ASKED, (), [37, 50], id="nodes of different size"),
        pytest.param(
            BOTH, LARGE, (), ((0, CPU), (0, CPU), (1, CPU), (1, BOTH_ASKED)), [70, 57], id="placed pods request"
        ),
        pytest.param(BOTH, LARGE, ASKED, ((0, CPU), (1, BOTH_ASKED)), [57, 45], id="both request"),
        pytest.param(BOTH, LARGER, ASKED, ((0, CPU), (1, BOTH_ASKED)), [57, 60], id="both, and different sizes"),
        pytest.param(BOTH, EVEN, (CPU,), ((0, CPU), (1, BOTH_ASKED)), [50, 25], id="more than there is"),
        pytest.param(BOTH, NOTHING, (), ((0, CPU), (1, BOTH_ASKED)), [0, 0], id="nodes that have nothing"),
        pytest.param(MEMORY_TWICE, UNEVEN, ASKED, (), [41, 50], id="weights"),
        pytest.param(
            WITH_DEVICE,
            (wants(6000, 10000), wants(6000, 10000, **{DEVICE: "4"})),
            ASKED,
            (),
            [50, 50],
            id="a device that is not requested does not count",
        ),
        pytest.param(
            WITH_DEVICE,
            (wants(6000, 10000, **{DEVICE: "4"}), wants(6000, 10000, **{DEVICE: "10"})),
            (wants(3000, 5000, **{DEVICE: "2"}),),
            (),
            [50, 60],
            id="one that is requested does",
        ),
    ],
)
def test_least_allocated(resources, capacities, wanted, placed, expected):
    assert scores("LeastAllocated", resources, capacities, wanted, placed) == expected


SMALL = ({"cpu": "250m", "memory": "1000Mi"},) * 2


@pytest.mark.parametrize(
    ("resources", "capacities", "wanted", "placed", "expected"),
    [
        pytest.param(BOTH, EVEN, (), (), [0, 0], id="nothing placed, nothing requested"),
        pytest.param(BOTH, UNEVEN, ASKED, (), [62, 50], id="nodes of different size"),
        pytest.param(
            BOTH, LARGE, (), ((0, CPU), (0, CPU), (1, CPU), (1, BOTH_ASKED)), [30, 42], id="placed pods request"
        ),
        pytest.param(BOTH, LARGE, ASKED, ((0, CPU), (1, BOTH_ASKED)), [42, 55], id="both request"),
        pytest.param(
            BOTH,
            (wants(5000, 10000), wants(10000, 9000)),
            (wants(2000, 4000), wants(3000, 5000)),
            (),
            [95, 75],
            id="all that there is",
        ),
        pytest.param(MEMORY_TWICE, UNEVEN, ASKED, (), [58, 50], id="weights"),
        pytest.param(
            BOTH, SMALL, ({},), ((0, {}), (0, {})), [80, 30], id="what is assumed of pods that request nothing"
        ),
        pytest.param(
            WITH_DEVICE,
            (wants(6000, 10000, **{DEVICE: "4"}), wants(6000, 10000, **{DEVICE: "10"})),
            (wants(3000, 5000, **{DEVICE: "2"}),),
            (),
            [50, 40],
            id="a device that is requested",
        ),
        pytest.param(
            DEVICE_TWICE,
            (wants(6000, 10000), wants(6000, 10000, **{DEVICE: "4"})),
            (wants(3000, 4000),),
            (),
            [45, 45],
            id="a device that some nodes lack",
        ),
    ],
)
def test_most_allocated(resources, capacities, wanted, placed, expected):
    assert scores("MostAllocated", resources, capacities, wanted, placed) == expected


@pytest.mark.parametrize("weight", [-1, 101])
def test_weights_outside_1_to_100_are_mistakes(weight):
    with pytest.raises(UsageError, match="should be in the range"):
        scores("LeastAllocated", [{"name": "cpu", "weight": weight}], EVEN, (), ())
