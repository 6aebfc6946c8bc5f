"""Any broken line over how full a node gets, case by case.

Source of the numbers: kubernetes 1.22
``pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio_test.go``.
"""

from types import MappingProxyType

import pytest
from hyperkube_scheduler.requested_to_capacity_ratio import RequestedToCapacityRatio
from hyperkube_testing.scheduling.scheduler import SchedulingContract
from hyperkube_testing.scheduling.tables import pod_info, scores, table

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext

FOO, BAR = "intel.com/foo", "intel.com/bar"
ONE_KIND = [{"name": FOO, "weight": 1}]
TWO_KINDS = [{"name": FOO, "weight": 3}, {"name": BAR, "weight": 5}]


def build(shape=None, resources=None):
    points = [{"utilization": used, "score": score} for used, score in shape] if shape is not None else None
    settings = MappingProxyType({"shape": points, "resources": resources})
    return RequestedToCapacityRatio(PluginContext(name="RequestedToCapacityRatio", settings=settings))


def pod(requests=None, on="", name="new"):
    rows = [{"name": "c", "resources": {"requests": requests}}] if requests is not None else []
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"containers": rows, "nodeName": on}}


def found(plugin, sizes, wanted, placed=()):
    nodes = table(*({"name": f"n{number}", **each} for number, each in enumerate(sizes)))
    for number, (column, requests) in enumerate(placed):
        nodes.put_pod(pod(requests, f"n{column}", f"placed{number}"), f"n{column}")
    return scores(plugin, pod_info(pod(wanted), nodes), nodes)


def size(cpu, memory):
    return {"cpu": str(cpu), "memory": str(memory)}


EVEN, UNEVEN, WANTED = (size(4, 10000),) * 2, (size(4, 10000), size(6, 10000)), size(3, 5000)
EMPTY = ((0, None), (0, None))
EMPTIEST, TENTH = ((0, 10), (100, 0)), ((0, 0), (100, 1))
EIGHT_AND_FOUR = ({FOO: "8"}, {FOO: "4"})
CROSSED = ({FOO: "8", BAR: "4"}, {FOO: "4", BAR: "8"})


@pytest.mark.parametrize(
    ("shape", "resources", "sizes", "wanted", "placed", "expected"),
    [
        pytest.param(EMPTIEST, None, EVEN, None, EMPTY, [100, 100], id="nothing requested"),
        pytest.param(EMPTIEST, None, UNEVEN, WANTED, EMPTY, [38, 50], id="nodes of different size"),
        pytest.param(EMPTIEST, None, UNEVEN, None, ((0, WANTED), (1, WANTED)), [38, 50], id="placed pods request"),
        pytest.param(TENTH, ONE_KIND, EIGHT_AND_FOUR, None, (), [0, 0], id="a device, not requested"),
        pytest.param(TENTH, ONE_KIND, EIGHT_AND_FOUR, {FOO: "2"}, ((0, None),), [2, 5], id="a device"),
        pytest.param(TENTH, ONE_KIND, EIGHT_AND_FOUR, {FOO: "2"}, ((1, {FOO: "2"}),), [2, 10], id="taken in part"),
        pytest.param(TENTH, ONE_KIND, EIGHT_AND_FOUR, {FOO: "4"}, ((0, None),), [5, 10], id="more of it"),
        pytest.param(TENTH, TWO_KINDS, CROSSED, None, (), [0, 0], id="two devices, not requested"),
        pytest.param(TENTH, TWO_KINDS, CROSSED, {FOO: "2", BAR: "2"}, ((0, None),), [4, 3], id="two devices"),
        pytest.param(
            TENTH,
            TWO_KINDS,
            CROSSED,
            {FOO: "2", BAR: "2"},
            ((1, {FOO: "4", BAR: "2"}),),
            [4, 7],
            id="two devices, taken in part",
        ),
        pytest.param(TENTH, TWO_KINDS, CROSSED, {FOO: "4", BAR: "2"}, ((0, None),), [5, 5], id="more of two devices"),
        pytest.param(None, None, UNEVEN, WANTED, (), [38, 50], id="no shape: the emptiest first"),
        pytest.param(((60, 10),), None, UNEVEN, WANTED, (), [100, 100], id="one point"),
    ],
)
def test_scores_number_by_number(shape, resources, sizes, wanted, placed, expected):
    assert found(build(shape, resources), sizes, wanted, placed) == expected


@pytest.mark.parametrize(
    ("shape", "percents", "expected"),
    [
        pytest.param(
            ((10, 1), (90, 9)), (0, 9, 10, 15, 19, 20, 89, 90, 99, 100, 110), (1, 1, 1, 1, 1, 2, 8, 9, 9, 9, 9), id="up"
        ),
        pytest.param(
            ((0, 2), (40, 10), (100, 0)), (0, 20, 30, 40, 70, 100, 110), (2, 6, 8, 10, 5, 0, 0), id="up and down"
        ),
        pytest.param(((0, 2), (40, 2), (100, 2)), (0, 20, 30, 40, 70, 100, 110), (2,) * 7, id="level"),
    ],
)
def test_a_broken_line_point_by_point(shape, percents, expected):
    """Upstream's line gives 0 to 10 where these scores are ten times as much; one piece in a hundred is the pod's own."""
    placed = [(column, {FOO: str(max(percent - 1, 0))}) for column, percent in enumerate(percents)]

    scored = found(build(shape, ONE_KIND), [{FOO: "100"}] * len(percents), {FOO: "1"}, placed)

    assert tuple(score // 10 for score in scored) == expected


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        pytest.param([(10, 11)], "shape[0].score: Invalid value: 11: not in valid range [0, 10]", id="score"),
        pytest.param([(101, 1)], "shape[0].utilization: Invalid value: 101: not in valid range [0, 100]", id="used"),
        pytest.param(
            [(10, 1), (10, 2)],
            "shape[1].utilization: Invalid value: 10: values must be sorted in increasing order",
            id="order",
        ),
    ],
)
def test_a_bad_shape_is_refused(shape, said):
    with pytest.raises(UsageError) as raised:
        build(shape)

    assert str(raised.value) == said


def test_weights_have_no_upper_limit():
    assert found(build(resources=[{"name": "cpu", "weight": 101}]), UNEVEN, WANTED) == [25, 50]


class TestContract(SchedulingContract):
    plugin = RequestedToCapacityRatio
    nodes = ({"name": "a", "cpu": "4", "memory": "10000"}, {"name": "b", "cpu": "6", "memory": "10000"})
    pods = (pod(WANTED),)
