"""How fast an autoscaler may go; the rows are those of upstream's ``horizontal_test.go``."""

import pytest
from hyperkube_controller.horizontalpodautoscaling.normalize import History, normalize_desired_replicas

NOW = 10_000.0


def limited(current, desired, history=None, *, behavior=None, least=1, most=50):
    spec = {"minReplicas": least, "maxReplicas": most} | ({"behavior": behavior} if behavior is not None else {})
    normalized = normalize_desired_replicas(spec, current, desired, history or History(), NOW)
    (_, _, able, _), (_, status, reason, _) = normalized.conditions
    return normalized.replicas, able, status, reason


@pytest.mark.parametrize(
    ("current", "desired", "bounds", "expected"),
    [
        pytest.param(7, 5, (3, 8), (5, "False", "DesiredWithinRange"), id="within"),
        pytest.param(3, 1, (2, 8), (2, "True", "TooFewReplicas"), id="below the least"),
        pytest.param(1, 0, (0, 8), (0, "False", "DesiredWithinRange"), id="to none where that is allowed"),
        pytest.param(7, 10, (1, 8), (8, "True", "TooManyReplicas"), id="above the most"),
        pytest.param(3, 1000, (1, 2000), (6, "True", "ScaleUpLimit"), id="no more than twice"),
        pytest.param(1, 10, (1, 50), (4, "True", "ScaleUpLimit"), id="or four"),
        pytest.param(3, 1000, (1, 6), (6, "True", "TooManyReplicas"), id="twice is the most"),
    ],
)
def test_without_a_behavior(current, desired, bounds, expected):
    replicas, _, status, reason = limited(current, desired, least=bounds[0], most=bounds[1])

    assert (replicas, status, reason) == expected


@pytest.mark.parametrize(
    ("recommended", "desired", "expected"),
    [
        pytest.param([], 5, (5, "ReadyForNewScale"), id="nothing before"),
        pytest.param([(NOW - 10, 4), (NOW - 20, 5)], 5, (5, "ReadyForNewScale"), id="none was higher"),
        pytest.param([(NOW - 10, 9)], 5, (9, "ScaleDownStabilized"), id="one was higher"),
        pytest.param([(NOW - 301, 9)], 5, (5, "ReadyForNewScale"), id="long ago"),
    ],
)
def test_without_a_behavior_only_going_down_waits(recommended, desired, expected):
    replicas, able, _, _ = limited(9, desired, History(recommended))

    assert (replicas, able) == expected


def test_a_recommendation_is_noted():
    history = History([(NOW - 10, 4)])

    limited(4, 6, history)

    assert history.recommended == [(NOW - 10, 4), (NOW, 6)]


def pods(value, period=60):
    return {"type": "Pods", "value": value, "periodSeconds": period}


def percent(value, period=60):
    return {"type": "Percent", "value": value, "periodSeconds": period}


AT_ONCE = {"stabilizationWindowSeconds": 0}


@pytest.mark.parametrize(
    ("behavior", "current", "desired", "expected"),
    [
        pytest.param({}, 1, 10, (5, "ScaleUpLimit"), id="up by default: four or twice"),
        pytest.param({}, 8, 20, (16, "ScaleUpLimit"), id="twice"),
        pytest.param({"scaleUp": {"policies": [pods(1)]}}, 3, 9, (4, "ScaleUpLimit"), id="pods"),
        pytest.param({"scaleUp": {"policies": [percent(50)]}}, 3, 9, (5, "ScaleUpLimit"), id="percent, rounded up"),
        pytest.param({"scaleUp": {"selectPolicy": "Disabled"}}, 3, 9, (3, "ScaleUpLimit"), id="disabled"),
        pytest.param({"scaleUp": {"selectPolicy": "Min"}}, 3, 20, (6, "ScaleUpLimit"), id="the slowest policy"),
        pytest.param({"scaleUp": {"policies": [pods(50)]}}, 30, 90, (50, "TooManyReplicas"), id="the most"),
        pytest.param({"scaleDown": AT_ONCE}, 9, 2, (2, "DesiredWithinRange"), id="down at once"),
        pytest.param(
            {"scaleDown": AT_ONCE | {"policies": [percent(10)]}}, 20, 2, (18, "ScaleDownLimit"), id="down by percent"
        ),
        pytest.param(
            {"scaleDown": AT_ONCE | {"policies": [percent(10)]}}, 5, 2, (4, "ScaleDownLimit"), id="rounded down"
        ),
        pytest.param({"scaleDown": AT_ONCE | {"policies": [pods(3)]}}, 20, 2, (17, "ScaleDownLimit"), id="down by pods"),
        pytest.param(
            {"scaleDown": AT_ONCE | {"policies": [pods(3), percent(50)]}}, 20, 2, (10, "ScaleDownLimit"),
            id="down by the fastest policy",
        ),
        pytest.param(
            {"scaleDown": AT_ONCE | {"policies": [pods(3), percent(50)], "selectPolicy": "Min"}}, 20, 2,
            (17, "ScaleDownLimit"), id="down by the slowest policy",
        ),
        pytest.param({"scaleDown": AT_ONCE | {"selectPolicy": "Disabled"}}, 9, 2, (9, "ScaleDownLimit"), id="never down"),
        pytest.param({"scaleDown": AT_ONCE}, 9, 0, (1, "TooFewReplicas"), id="the least"),
    ],
)  # fmt: skip
def test_the_policies_of_a_behavior(behavior, current, desired, expected):
    replicas, _, status, reason = limited(current, desired, behavior=behavior)

    assert (replicas, reason) == expected
    assert status == str(reason != "DesiredWithinRange")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param([], 12, id="none yet"),
        pytest.param([(NOW - 10, 3)], 9, id="what was added in the period counts"),
        pytest.param([(NOW - 10, 3), (NOW - 100, 5)], 9, id="not what was added before"),
        pytest.param([(NOW - 10, -3)], 15, id="what was taken away is to be had again"),
        pytest.param([(NOW - 10, 30)], 8, id="never fewer than there are"),
    ],
)
def test_a_rate_counts_what_was_done_in_its_period(changed, expected):
    behavior = {"scaleUp": {"policies": [pods(4)]}}

    assert limited(8, 20, History(changed=changed), behavior=behavior)[0] == expected


@pytest.mark.parametrize(
    ("windows", "recommended", "current", "desired", "expected"),
    [
        pytest.param((0, 300), [(NOW - 10, 9)], 9, 5, (9, "ScaleDownStabilized"), id="down: the highest of late"),
        pytest.param((60, 300), [(NOW - 10, 4)], 3, 8, (4, "ScaleUpStabilized"), id="up: the lowest of late"),
        pytest.param((60, 300), [(NOW - 61, 4)], 3, 8, (7, "ReadyForNewScale"), id="up: not what was before"),
        pytest.param((60, 300), [(NOW - 10, 2)], 3, 8, (3, "ScaleUpStabilized"), id="up: no further down than now"),
    ],
)
def test_windows_both_ways(windows, recommended, current, desired, expected):
    up, down = ({"stabilizationWindowSeconds": seconds} for seconds in windows)

    replicas, able, _, _ = limited(current, desired, History(recommended), behavior={"scaleUp": up, "scaleDown": down})

    assert (replicas, able) == expected
