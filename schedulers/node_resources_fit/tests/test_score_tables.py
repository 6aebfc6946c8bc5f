"""Scores of the strategies, number by number.

Source of the numbers: kubernetes ``pkg/scheduler/framework/plugins/noderesources/`` (least_allocated_test.go,
most_allocated_test.go, requested_to_capacity_ratio_test.go, fit_test.go). Amounts there are in whole cpus and bytes,
and so they are here.
"""

import pytest
from hyperkube_scheduler.node_resources_fit import NodeResourcesFit
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.errors import UsageError

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


def scores(strategy, resources, capacities, wanted, placed, shape=None):
    settings = {"type": strategy, "resources": resources}
    if shape:
        settings["requestedToCapacityRatio"] = {
            "shape": [{"utilization": used, "score": score} for used, score in shape]
        }
    context = PluginContext(name="NodeResourcesFit", settings={"scoringStrategy": settings})
    nodes = table(*({"name": f"n{number}", **each} for number, each in enumerate(capacities)))
    for number, (column, requests) in enumerate(placed):
        one = pod(f"placed{number}", *([requests] if requests is not None else ()), on=f"n{column}")
        nodes.put_pod(one, f"n{column}")
    return NodeResourcesFit(context).score(pod_info(pod("new", *wanted), nodes), nodes).tolist()


ASKED = (wants(1000, 2000), wants(2000, 3000))
EVEN = (wants(4000, 10000), wants(4000, 10000))
UNEVEN = (wants(4000, 10000), wants(6000, 10000))
LARGE = (wants(10000, 20000), wants(10000, 20000))
LARGER = (wants(10000, 20000), wants(10000, 50000))
NOTHING = (wants(0, 0), wants(0, 0))
CPU, BOTH_ASKED = wants(3000, 0), wants(3000, 5000)
PAIR = (wants(4000, 10000), wants(6000, 10000))
SMALLER = wants(1000, 2000)
HALF = ((0, wants(2000, 4000)), (1, SMALLER))


@pytest.mark.parametrize(
    ("resources", "capacities", "wanted", "placed", "expected"),
    [
        pytest.param(BOTH, EVEN, (), (), [100, 100], id="nothing placed, nothing requested"),
        pytest.param(BOTH, UNEVEN, ASKED, (), [37, 50], id="nodes of different size"),
        pytest.param(BOTH, EVEN, (), tuple((n // 2, None) for n in range(4)), [100, 100], id="placed pods are empty"),
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
        pytest.param(
            DEVICE_TWICE,
            (wants(6000, 10000), wants(6000, 10000, **{DEVICE: "4"})),
            (wants(3000, 4000),),
            (),
            [55, 55],
            id="a device that some nodes lack",
        ),
        pytest.param(BOTH, PAIR, (SMALLER,), HALF, [32, 63], id="the strategy chosen by name"),
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
            (wants(6000, 10000), wants(6000, 10000, **{DEVICE: "4"})),
            ASKED,
            (),
            [50, 50],
            id="a device that is not requested does not count",
        ),
        pytest.param(BOTH, PAIR, (SMALLER,), HALF, [67, 36], id="the strategy chosen by name"),
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


LEAST_FIRST, MOST_FIRST, TENTH = ((0, 10), (100, 0)), ((0, 0), (100, 10)), ((0, 0), (100, 1))
FOO, BAR = "intel.com/foo", "intel.com/bar"
ONE_KIND = [{"name": FOO, "weight": 1}]
TWO_KINDS = [{"name": FOO, "weight": 3}, {"name": BAR, "weight": 5}]
EIGHT_AND_FOUR = ({"cpu": "4", FOO: "8"}, {"cpu": "4", FOO: "4"})
CROSSED = ({FOO: "8", BAR: "4"}, {FOO: "4", BAR: "8"})
NO_REQUESTS = ((0, None), (0, None))


@pytest.mark.parametrize(
    ("resources", "shape", "capacities", "wanted", "placed", "expected"),
    [
        pytest.param(BOTH, LEAST_FIRST, EVEN, (), NO_REQUESTS, [100, 100], id="nothing requested"),
        pytest.param(BOTH, LEAST_FIRST, PAIR, ASKED, NO_REQUESTS, [38, 50], id="nodes of different size"),
        pytest.param(
            BOTH, LEAST_FIRST, PAIR, (), ((0, BOTH_ASKED), (1, BOTH_ASKED)), [38, 50], id="placed pods request"
        ),
        pytest.param(BOTH, LEAST_FIRST, PAIR, (BOTH_ASKED,), HALF, [10, 32], id="both, the emptiest first"),
        pytest.param(BOTH, MOST_FIRST, PAIR, (BOTH_ASKED,), HALF, [95, 68], id="both, the fullest first"),
        pytest.param(ONE_KIND, TENTH, EIGHT_AND_FOUR, (), (), [0, 0], id="a device, not requested"),
        pytest.param(ONE_KIND, TENTH, EIGHT_AND_FOUR, ({FOO: "2"},), ((0, None),), [2, 5], id="a device"),
        pytest.param(ONE_KIND, TENTH, EIGHT_AND_FOUR, ({FOO: "2"},), ((1, {FOO: "2"}),), [2, 10], id="taken in part"),
        pytest.param(ONE_KIND, TENTH, EIGHT_AND_FOUR, ({FOO: "4"},), ((0, None),), [5, 10], id="more of it"),
        pytest.param(TWO_KINDS, TENTH, CROSSED, (), (), [0, 0], id="two devices, not requested"),
        pytest.param(TWO_KINDS, TENTH, CROSSED, ({FOO: "2", BAR: "2"},), (), [4, 3], id="two devices"),
        pytest.param(
            TWO_KINDS,
            TENTH,
            CROSSED,
            ({FOO: "2", BAR: "2"},),
            ((1, {FOO: "4", BAR: "2"}),),
            [4, 7],
            id="two devices, taken in part",
        ),
        pytest.param(TWO_KINDS, TENTH, CROSSED, ({FOO: "4", BAR: "2"},), (), [5, 5], id="more of two devices"),
    ],
)
def test_requested_to_capacity_ratio(resources, shape, capacities, wanted, placed, expected):
    assert scores("RequestedToCapacityRatio", resources, capacities, wanted, placed, shape) == expected


@pytest.mark.parametrize(("strategy", "expected"), [("MostAllocated", [67, 45]), ("LeastAllocated", [32, 55])])
def test_what_sidecars_request_counts(strategy, expected):
    settings = {"scoringStrategy": {"type": strategy, "resources": BOTH}}
    nodes = table({"name": "n0", **EVEN[0]}, {"name": "n1", **EVEN[0]})
    accompanied = pod("accompanied", SMALLER, on="n0")
    beside = {"name": "beside", "restartPolicy": "Always", "resources": {"requests": SMALLER}}
    accompanied["spec"]["initContainers"] = [beside]
    nodes.put_pod(accompanied, "n0")
    nodes.put_pod(pod("alone", SMALLER, on="n1"), "n1")

    plugin = NodeResourcesFit(PluginContext(name="NodeResourcesFit", settings=settings))

    assert plugin.score(pod_info(pod("new", SMALLER), nodes), nodes).tolist() == expected


def test_the_number_of_pods_is_no_resource_to_score_by():
    only_pods = [{"name": "pods", "weight": 1}]

    assert scores("LeastAllocated", only_pods, EVEN, ASKED, ()) == [0, 0]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [{"name": "memory", "weight": -1}, {"name": "cpu", "weight": 1}],
            "resources[0].weight: Invalid value: -1: resource weight of memory not in valid range (0, 100]",
            id="negative",
        ),
        pytest.param(
            [{"name": "memory", "weight": 1}, {"name": "cpu", "weight": 101}],
            "resources[1].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]",
            id="more than a score",
        ),
    ],
)
def test_a_weight_out_of_range_is_a_mistake(rows, said):
    with pytest.raises(UsageError) as raised:
        scores("LeastAllocated", rows, EVEN, (), ())

    assert str(raised.value) == f"scoringStrategy.{said}"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param(
            {"scoringStrategy": {"type": "Random"}},
            'scoringStrategy.type: Unsupported value: "Random": supported values: '
            '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
            id="strategy",
        ),
        pytest.param(
            {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
            "scoringStrategy.shape: Required value: at least one point must be specified",
            id="no shape",
        ),
        pytest.param(
            {"ignoredResourceGroups": ["example.com/a"]},
            "ignoredResourceGroups[0]: Invalid value: \"example.com/a\": resource group name can't contain '/'",
            id="a domain with a slash",
        ),
    ],
)
def test_settings_that_mean_nothing_are_mistakes(settings, said):
    with pytest.raises(UsageError) as raised:
        NodeResourcesFit(PluginContext(name="NodeResourcesFit", settings=settings))

    assert str(raised.value) == said
