"""What 1.x gave for resources, row by row.

Source of the numbers: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/`` (least_requested_test.go,
most_requested_test.go, balanced_resource_allocation_test.go without its alpha gate for volumes,
requested_to_capacity_ratio_test.go, resource_limits_test.go).
"""

import pytest
from hyperkube_scheduler.legacy_priorities import (
    BalancedResourceAllocation,
    LeastRequestedPriority,
    MostRequestedPriority,
    RequestedToCapacityRatioPriority,
    ResourceLimitsPriority,
)
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

CPU, BOTH, BIG = ((1000, 0), (2000, 0)), ((1000, 2000), (2000, 3000)), ((2000, 4000), (3000, 5000))
EVEN, UNEVEN = ((4000, 10000),) * 2, ((4000, 10000), (6000, 10000))
LARGE, LARGER = ((10000, 20000),) * 2, ((10000, 20000), (10000, 50000))
FOUR = ((0, CPU), (0, CPU), (1, CPU), (1, BOTH))
ONE_EACH = ((0, CPU), (1, BOTH))
EMPTY = ((0, ()), (0, ()), (1, ()), (1, ()))


def pod(name, amounts, on="", kind="requests"):
    rows = [
        {"name": f"c{number}", "resources": {kind: {"cpu": f"{cpu}m", "memory": str(memory)}}}
        for number, (cpu, memory) in enumerate(amounts)
    ]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


def nodes_of(capacities):
    return table(
        *(
            {"name": f"machine{number}", "cpu": f"{cpu}m", "memory": str(memory)}
            for number, (cpu, memory) in enumerate(capacities)
        )
    )


def scores(made, capacities, wanted, placed=(), **settings):
    nodes = nodes_of(capacities)
    for number, (column, amounts) in enumerate(placed):
        nodes.put_pod(pod(f"placed{number}", amounts, f"machine{column}"), f"machine{column}")
    plugin = made(PluginContext(name=made.__name__, settings=settings))
    return plugin.score(pod_info(pod("new", wanted), nodes), nodes).tolist()


ROWS = {
    "nothing scheduled, nothing requested": (EVEN, (), ()),
    "nothing scheduled, resources requested, differently sized machines": (UNEVEN, BOTH, ()),
    "no resources requested, pods scheduled": (EVEN, (), EMPTY),
    "no resources requested, pods scheduled with resources": (LARGE, (), FOUR),
    "resources requested, pods scheduled with resources": (LARGE, BOTH, ONE_EACH),
    "the same, differently sized machines": (LARGER, BOTH, ONE_EACH),
    "requested resources exceed node capacity": (EVEN, CPU, ONE_EACH),
    "zero node resources, pods scheduled with resources": (((0, 0),) * 2, (), ONE_EACH),
}


@pytest.mark.parametrize(
    ("row", "expected"),
    tuple(zip(ROWS.values(), ([10, 10], [3, 5], [10, 10], [7, 5], [5, 4], [5, 6], [5, 2], [0, 0]), strict=True)),
    ids=ROWS,
)
def test_least_requested(row, expected):
    assert scores(LeastRequestedPriority, *row) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    tuple(zip(ROWS.values(), ([10, 10], [7, 10], [10, 10], [4, 6], [6, 9], [6, 6], [0, 0], [0, 0]), strict=True)),
    ids=ROWS,
)
def test_balanced(row, expected):
    assert scores(BalancedResourceAllocation, *row) == expected


@pytest.mark.parametrize(
    ("capacities", "wanted", "placed", "expected"),
    [
        pytest.param(EVEN, (), (), [0, 0], id="nothing scheduled, nothing requested"),
        pytest.param(UNEVEN, BOTH, (), [6, 5], id="differently sized machines"),
        pytest.param(LARGE, (), FOUR, [3, 4], id="pods scheduled with resources"),
        pytest.param(LARGE, BOTH, ONE_EACH, [4, 5], id="requested, and pods scheduled with resources"),
        pytest.param(((4000, 10000), (10000, 8000)), BIG, (), [4, 2], id="more than the node has"),
    ],
)
def test_most_requested(capacities, wanted, placed, expected):
    assert scores(MostRequestedPriority, capacities, wanted, placed) == expected


NOUGHT, HALF = ((0, 0),), ((3000, 5000),)


@pytest.mark.parametrize(
    ("capacities", "wanted", "placed", "expected"),
    [
        pytest.param(EVEN, NOUGHT, ((0, NOUGHT), (1, NOUGHT)), [10, 10], id="nothing scheduled, nothing requested"),
        pytest.param(UNEVEN, HALF, ((0, NOUGHT), (1, NOUGHT)), [4, 5], id="requested, differently sized machines"),
        pytest.param(UNEVEN, NOUGHT, ((0, HALF), (1, HALF)), [4, 5], id="pods scheduled with resources"),
    ],
)
def test_requested_to_capacity_ratio_with_the_usual_shape(capacities, wanted, placed, expected):
    assert scores(RequestedToCapacityRatioPriority, capacities, wanted, placed) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(
            ((10, 1), (90, 9)), {0: 1, 9: 1, 10: 1, 15: 1, 19: 1, 20: 2, 89: 8, 90: 9, 99: 9, 100: 9, 110: 9}, id="up"
        ),
        pytest.param(
            ((0, 2), (40, 10), (100, 0)), {0: 2, 20: 6, 30: 8, 40: 10, 70: 5, 100: 0, 110: 0}, id="up and down"
        ),
        pytest.param(((0, 2), (40, 2), (100, 2)), {0: 2, 20: 2, 30: 2, 40: 2, 70: 2, 100: 2, 110: 2}, id="level"),
    ],
)
def test_the_broken_line(points, expected):
    shape = [{"utilization": utilization, "score": score} for utilization, score in points]

    found = {
        used: scores(RequestedToCapacityRatioPriority, ((100, 100),), ((used, used),), shape=shape)[0]
        for used in expected
    }

    assert found == expected


def test_resources_with_weights():
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    resources = [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]

    found = scores(
        RequestedToCapacityRatioPriority, ((100, 100),) * 2, ((80, 40),), ((1, ((10, 10),)),),
        shape=shape, resources=resources,
    )  # fmt: skip

    assert found == [7, 8]  # (3 * 8 + 4) / 4, and (3 * 9 + 5) / 4


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([(10, 1), (15, 2), (20, 3), (19, 4)], r"must be sorted. Utilization\[2\]==20 >= Utilization\[3\]==19"),
        ([(10, 1), (20, 2), (20, 3), (22, 4)], r"must be sorted. Utilization\[1\]==20 >= Utilization\[2\]==20"),
        ([(-1, 0), (100, 10)], r"utilization values must not be less than 0. Utilization\[0\]==-1"),
        ([(0, 0), (101, 10)], r"utilization values must not be greater than 100. Utilization\[1\]==101"),
        ([(0, -1), (100, 10)], r"score values must not be less than 0. Score\[0\]==-1"),
        ([(0, 0), (100, 11)], r"score values must not be greater than 10. Score\[1\]==11"),
    ],
)
def test_a_bad_shape_is_refused(points, message):
    shape = [{"utilization": utilization, "score": score} for utilization, score in points]

    with pytest.raises(UsageError, match=message):
        RequestedToCapacityRatioPriority(PluginContext(name="x", settings={"shape": shape}))


MEMORY = ((0, 2000), (0, 3000))


@pytest.mark.parametrize(
    ("capacities", "limits", "expected"),
    [
        pytest.param(((4000, 10000), (4000, 0), (0, 10000), (0, 0)), (), [0, 0, 0, 0], id="no limits"),
        pytest.param(((3000, 10000), (2000, 10000)), CPU, [1, 0], id="cpu only"),
        pytest.param(((4000, 4000), (5000, 10000)), MEMORY, [0, 1], id="memory only"),
        pytest.param(((4000, 4000), (5000, 10000)), BOTH, [1, 1], id="cpu and memory"),
        pytest.param(((0, 0),), BOTH, [0], id="a node that advertises nothing"),
    ],
)
def test_resource_limits(capacities, limits, expected):
    nodes = nodes_of(capacities)
    info = pod_info(pod("new", limits, kind="limits"), nodes)

    assert ResourceLimitsPriority(None).score(info, nodes).tolist() == expected


def test_an_init_containers_greater_limits_count():
    nodes = nodes_of(((3000, 10000), (2000, 10000)))
    wanted = pod("new", ((500, 0), (500, 0)), kind="limits")
    wanted["spec"]["initContainers"] = pod("init", ((2500, 0),), kind="limits")["spec"]["containers"]

    assert ResourceLimitsPriority(None).score(pod_info(wanted, nodes), nodes).tolist() == [1, 0]
