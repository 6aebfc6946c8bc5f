"""Rates of a behavior and windows; the rows are those of upstream's ``TestConvertDesiredReplicasWithBehavior…``."""

import pytest
from hyperkube_controller.horizontalpodautoscaling.normalize import History, normalize_desired_replicas

NOW = 10_000.0
UP, DOWN = "ScaleUpLimit", "ScaleDownLimit"
MOST, LEAST, WITHIN = "TooManyReplicas", "TooFewReplicas", "DesiredWithinRange"


def rules(pods=None, percent=None):
    """Return rules of what may change: (number, seconds) of pods and of percents."""
    policies = [
        {"type": kind, "value": value[0], "periodSeconds": value[1]}
        for kind, value in (("Pods", pods), ("Percent", percent))
        if value
    ]
    return {"policies": policies}


def over(seconds, *changes):
    """Spread changes evenly over the last seconds."""
    return History(changed=[(NOW - seconds * at / len(changes), change) for at, change in enumerate(changes)])


def normalized(behavior, current, desired, bounds, history=None):
    spec = {"minReplicas": bounds[0], "maxReplicas": bounds[1], "behavior": behavior}
    result = normalize_desired_replicas(spec, current, desired, history or History(), NOW)
    (_, _, able, _), (_, _, limited, _) = result.conditions
    return result.replicas, able, limited


@pytest.mark.parametrize(
    ("up", "current", "desired", "bounds", "changed", "expected"),
    [
        pytest.param({}, 20, 1000, (1, 10), (), (10, MOST), id="the most is below what there is"),
        pytest.param({}, 100, 1000, (100, 150), (), (150, MOST), id="the most comes before the rate"),
        pytest.param(rules(percent=(1, 60)), 3, 1000, (1, 2000), (), (4, UP), id="a percent of three is one"),
        pytest.param({}, 10, 50, (1, 1000), (), (20, UP), id="by default twice"),
        pytest.param(rules((100, 60), (100, 60)), 10, 500, (1, 1000), (), (110, UP), id="more by pods than by percent"),
        pytest.param(rules((2, 60), (100, 60)), 10, 500, (1, 1000), (), (20, UP), id="more by percent than by pods"),
        pytest.param(rules((100, 60)), 10, 50, (1, 1000), (), (50, WITHIN), id="a large number"),
        pytest.param(rules((10000, 60)), 10, 50, (1, 1000), (), (50, WITHIN), id="a very large number"),
        pytest.param(rules((30, 60)), 10, 50, (1, 1000), (), (40, UP), id="pods"),
        pytest.param(rules(percent=(200, 60)), 10, 50, (1, 1000), (), (30, UP), id="percent"),
        pytest.param(rules((300, 60)), 100, 500, (1, 200), (1, 5, 9), (200, MOST), id="many pods after changes"),
        pytest.param(rules(percent=(10000, 60)), 100, 500, (1, 200), (1, 5, 9), (200, MOST), id="many percent after changes"),
        pytest.param(rules((5, 120)), 100, 500, (1, 1000), (1, 5, 9), (100, UP), id="more was added than may be"),
        pytest.param(rules((150, 120)), 100, 500, (1, 1000), (1, 5, 9), (235, UP), id="pods after changes"),
        pytest.param(rules(percent=(200, 120)), 100, 500, (1, 1000), (1, 5, 9), (255, UP), id="percent after changes"),
        pytest.param(rules((1000, 60)), 100, 200, (1, 1000), (8, 12, 9, 11), (200, WITHIN), id="a period shorter than changes"),
        pytest.param(rules((1000, 120), (100, 60)), 100, 200, (1, 1000), (8, 12, 9, 11), (200, WITHIN), id="two periods"),
        pytest.param(rules((1000, 30), (100, 60)), 100, 200, (1, 1000), (8, 12, 9, 11), (200, WITHIN), id="two short periods"),
        # Kubernetes computes in floating point, where ten percent more than a hundred is a little above 110.
        pytest.param(rules(percent=(10, 60)), 100, 500, (1, 1000), (), (111, UP), id="rounded up as Kubernetes does"),
    ],
)  # fmt: skip
def test_rates_upwards(up, current, desired, bounds, changed, expected):
    replicas, _, reason = normalized({"scaleUp": up}, current, desired, bounds, over(120, *changed))

    assert (replicas, reason) == expected


@pytest.mark.parametrize(
    ("down", "current", "desired", "bounds", "changed", "expected"),
    [
        pytest.param(rules((20, 60)), 1000, 3, (3, 2000), (), (980, DOWN), id="pods of many"),
        pytest.param(rules((20, 60), (1, 60)), 100, 2, (1, 1000), (), (80, DOWN), id="more by pods than by percent"),
        pytest.param(rules((2, 60), (1, 60)), 100, 2, (1, 1000), (), (98, DOWN), id="two pods, one percent"),
        pytest.param(rules((100, 60)), 10, 0, (1, 1000), (), (1, LEAST), id="a large number"),
        pytest.param(rules(percent=(100, 60)), 10, 2, (5, 1000), (), (5, LEAST), id="all"),
        pytest.param(rules((5, 60)), 10, 2, (1, 1000), (), (5, DOWN), id="pods"),
        pytest.param(rules(percent=(50, 60)), 10, 5, (1, 1000), (), (5, WITHIN), id="percent"),
        pytest.param({}, 10, 5, (1, 1000), (1, 5, 9), (5, WITHIN), id="by default changes do not matter"),
        pytest.param(rules((115, 120)), 100, 0, (1, 1000), (1, 5, 9), (1, LEAST), id="to the least"),
        pytest.param(rules((130, 120)), 100, 0, (5, 1000), (1, 5, 9), (5, LEAST), id="to a least of five"),
        pytest.param(rules(percent=(100, 120)), 100, 2, (5, 1000), (1, 5, 9), (5, LEAST), id="all, after changes"),
        pytest.param(rules((5, 120)), 100, 2, (1, 1000), (1, 5, 9), (100, DOWN), id="more was taken than may be"),
        pytest.param(rules(percent=(50, 120)), 100, 0, (1, 1000), (2, 4, 6), (56, DOWN), id="percent after changes"),
        pytest.param(rules(percent=(10, 120)), 100, 0, (1, 1000), (10, 10, 10), (100, DOWN), id="no more for now"),
        pytest.param(rules(percent=(1000, 120)), 10, 5, (1, 1000), (10, 10, 10), (5, WITHIN), id="below none"),
        pytest.param(rules((1000, 60)), 100, 5, (1, 1000), (8, 12, 9, 11), (5, WITHIN), id="a period shorter than changes"),
        pytest.param(rules((1000, 120), (100, 60)), 100, 5, (1, 1000), (8, 12, 9, 11), (5, WITHIN), id="two periods"),
        pytest.param(rules((1000, 30), (100, 60)), 100, 5, (1, 1000), (8, 12, 9, 11), (5, WITHIN), id="two short periods"),
        # … and 34 percent less a little below 66.
        pytest.param(rules(percent=(34, 60)), 100, 1, (1, 1000), (), (65, DOWN), id="rounded down as Kubernetes does"),
    ],
)  # fmt: skip
def test_rates_downwards(down, current, desired, bounds, changed, expected):
    history = over(120, *(-change for change in changed))

    replicas, _, reason = normalized({"scaleDown": down}, current, desired, bounds, history)

    assert (replicas, reason) == expected


def minutes(*rows):
    return History([(NOW - 60 * ago, replicas) for replicas, ago in rows])


@pytest.mark.parametrize(
    ("windows", "recommended", "current", "desired", "expected"),
    [
        pytest.param((0, 0), (), 100, 5, 5, id="nothing before"),
        pytest.param((0, 180), ((4, 2), (5, 1)), 100, 3, 5, id="down: the highest"),
        pytest.param((300, 0), ((4, 2), (5, 1)), 1, 7, 4, id="up: the lowest"),
        pytest.param((300, 0), ((1, 2), (2, 1)), 100, 3, 3, id="the window upwards does not hold back going down"),
        pytest.param((0, 300), ((4, 2), (5, 1)), 1, 3, 3, id="nor the other one going up"),
        pytest.param((0, 0), ((10, 10), (9, 9)), 100, 3, 3, id="long ago, down"),
        pytest.param((0, 0), ((10, 10), (9, 9)), 1, 100, 100, id="long ago, up"),
        pytest.param((0, 180), ((10, 10), (4, 1), (5, 2), (9, 9)), 100, 3, 5, id="down: those of late"),
        pytest.param((300, 0), ((10, 100), (6, 1), (5, 2), (9, 3)), 1, 100, 5, id="up: those of late"),
    ],
)
def test_windows(windows, recommended, current, desired, expected):
    up, down = ({"stabilizationWindowSeconds": window} for window in windows)
    behavior = {"scaleUp": up | rules((1000, 15)), "scaleDown": down | rules((1000, 15))}

    assert normalized(behavior, current, desired, (1, 1000), minutes(*recommended))[0] == expected
