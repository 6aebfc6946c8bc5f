"""Labels that are there or not, case by case; the node has ``foo`` and ``bar``.

Source of the cases: kubernetes 1.20 ``pkg/scheduler/framework/plugins/nodelabel/node_label_test.go``.
"""

import pytest
from hyperkube_scheduler.node_label import REASON, NodeLabel
from hyperkube_testing.scheduling.tables import pod_info, scores, table, verdicts

from hyperkube.plugin import PluginContext


def build(present, absent, suffix=""):
    settings = {f"presentLabels{suffix}": present, f"absentLabels{suffix}": absent}
    return NodeLabel(PluginContext(name="NodeLabel", settings=settings))


def world():
    return table({"name": "machine1", "labels": {"foo": "any value", "bar": "any value"}})


@pytest.mark.parametrize(
    ("present", "absent", "kept"),
    [
        pytest.param(["baz"], [], False, id="one is missing"),
        pytest.param([], ["baz"], True, id="the unwanted one is missing"),
        pytest.param(["foo", "baz"], [], False, id="one of two is missing"),
        pytest.param([], ["foo", "baz"], False, id="one of two unwanted is there"),
        pytest.param(["foo", "bar"], [], True, id="both are there"),
        pytest.param([], ["foo", "bar"], False, id="both unwanted are there"),
        pytest.param(["foo"], ["bar"], False, id="wanted and unwanted are there"),
        pytest.param(["foz"], ["baz"], False, id="neither is there"),
        pytest.param(["foo"], ["baz"], True, id="as wished"),
        pytest.param(["foz"], ["bar"], False, id="the wrong one is there"),
        pytest.param([], [], True, id="nothing is wished"),
    ],
)
def test_filter(present, absent, kept):
    nodes = world()

    assert verdicts(build(present, absent), pod_info({}, nodes), nodes) == ["" if kept else f"! {REASON}"]


OTHERS = ["somelabel1", "somelabel2"]


@pytest.mark.parametrize(
    ("present", "absent", "expected"),
    [
        pytest.param(["foo"], [], 100, id="the liked one is there"),
        pytest.param(["somelabel"], [], 0, id="it is not"),
        pytest.param(["foo", "bar"], [], 100, id="two are there"),
        pytest.param(OTHERS, [], 0, id="neither is"),
        pytest.param(["foo", "somelabel"], [], 50, id="one of two is"),
        pytest.param([], ["foo"], 0, id="the disliked one is there"),
        pytest.param([], ["somelabel"], 100, id="the disliked one is not"),
        pytest.param([], ["foo", "bar"], 0, id="two disliked are there"),
        pytest.param([], OTHERS, 100, id="neither of the disliked is"),
        pytest.param([], ["foo", "somelabel"], 50, id="one of two disliked is"),
        pytest.param(["foo", "bar"], OTHERS, 100, id="all as liked"),
        pytest.param(OTHERS, ["foo", "bar"], 0, id="nothing as liked"),
        pytest.param(["foo", "somelabel"], OTHERS, 75, id="three of four as liked"),
        pytest.param([], [], 0, id="nothing is liked"),
    ],
)
def test_score(present, absent, expected):
    nodes = world()

    assert scores(build(present, absent, "Preference"), pod_info({}, nodes), nodes) == [expected]


def test_the_reason_is_upstreams():
    assert REASON == "node(s) didn't have the requested labels"
