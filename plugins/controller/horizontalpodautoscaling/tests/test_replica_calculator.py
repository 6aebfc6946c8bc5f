"""How many replicas a metric asks for; the rows are those of upstream's ``replica_calculator_test.go``."""

from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_controller.horizontalpodautoscaling.metrics_client import (
    NoMetric,
    PodMetric,
    container_metrics,
    pod_metrics,
)
from hyperkube_controller.horizontalpodautoscaling.replica_calculator import ReplicaCalculator, request_of

from hyperkube.machinery.times import format_time

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
HOT, COLD = NOW - timedelta(seconds=30), NOW - timedelta(hours=1)
"""Starts of pods: one whose CPU may still be that of its start, and one long ago."""


def pod(index, how="ready", request="1"):
    """Make a pod that is ready, unready, hot (started lately), pending, failed or going."""
    started = HOT if how == "hot" else COLD
    ready = "False" if how in {"unready", "hot"} else "True"
    made = {
        "metadata": {"name": f"p{index}", "namespace": "d"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": request} if request else {}}}]},
        "status": {
            "phase": {"pending": "Pending", "failed": "Failed"}.get(how, "Running"),
            "startTime": format_time(started),
            "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": format_time(started)}],
        },
    }
    if how == "going":
        made["metadata"]["deletionTimestamp"] = format_time(NOW)
    return made


def calculator(pods):
    return ReplicaCalculator(pods, NOW)


def metrics(*levels):
    """Make the metrics of pods by thousandths; None for a pod without any."""
    return {f"p{index}": PodMetric(level, NOW, 60.0) for index, level in enumerate(levels) if level is not None}


@pytest.mark.parametrize(
    ("current", "target", "levels", "hows", "expected"),
    [
        pytest.param(3, 30, [300, 500, 700], [], (5, 50, 500), id="up"),
        pytest.param(3, 30, [300, 500, 700], ["unready"], (4, 60, 600), id="up, an unready one: less"),
        pytest.param(3, 30, [300, 500, 700], ["hot"], (4, 60, 600), id="up, a hot one: less"),
        pytest.param(3, 30, [400, 500, 700], ["ready", "unready", "unready"], (3, 40, 400), id="up, two unready: stay"),
        pytest.param(3, 30, [400, 500, 700], ["ready", "hot", "hot"], (3, 40, 400), id="up, two hot: stay"),
        pytest.param(2, 30, [500, 700], ["ready", "ready", "failed", "failed"], (4, 60, 600), id="up, failed ones"),
        pytest.param(2, 30, [500, 700], ["ready", "ready", "going", "going"], (4, 60, 600), id="up, going ones"),
        pytest.param(5, 50, [100, 300, 500, 250, 250], [], (3, 28, 280), id="down"),
        pytest.param(
            5, 50, [100, 300, 500, 250, 250], ["ready"] * 3 + ["unready"] * 2, (2, 30, 300), id="down, unready ones"
        ),
        pytest.param(5, 50, [100, 300, 500, 250, 250], ["ready"] * 3 + ["hot"] * 2, (2, 30, 300), id="down, hot ones"),
        pytest.param(
            5, 50, [100, 300, 500, 250, 250], ["ready"] * 5 + ["failed"] * 2, (3, 28, 280), id="down, failed ones"
        ),
        pytest.param(5, 50, [100], ["ready"] + ["pending"] * 4, (1, 10, 100), id="down, pending ones"),
        pytest.param(
            5, 50, [100, 300, 500, 250, 250], ["ready"] * 5 + ["going"] * 2, (3, 28, 280), id="down, going ones"
        ),
        pytest.param(4, 100, [400, 95, None, None], [], (3, 24, 247), id="down, missing ones are busy"),
        pytest.param(2, 100, [1000, None], [], (2, 100, 1000), id="missing, as wanted"),
        pytest.param(2, 100, [1900, None], [], (2, 190, 1900), id="missing, up: idle"),
        pytest.param(2, 100, [600, None], [], (2, 60, 600), id="missing, down: busy"),
        pytest.param(3, 50, [100, 450, None], ["unready"], (3, 45, 450), id="missing and unready: stay"),
        pytest.param(3, 50, [100, 450, None], ["hot"], (3, 45, 450), id="missing and hot: stay"),
        pytest.param(3, 50, [100, 2000, None], ["unready"], (4, 200, 2000), id="missing and unready: up"),
        pytest.param(3, 50, [100, 2000, None], ["hot"], (4, 200, 2000), id="missing and hot: up"),
        pytest.param(4, 50, [100, 100, 100, None], ["unready"], (3, 10, 100), id="missing and unready: down"),
        pytest.param(3, 50, [None, 450, 450], ["pending"], (3, 45, 450), id="pending ones count as unready"),
        pytest.param(4, 150, [600, None, None, None], [], (4, 60, 600), id="missing ones have the target above 100 %"),
    ],
)  # fmt: skip
def test_a_share_of_the_requests(current, target, levels, hows, expected):
    count = max(len(levels), len(hows))
    pods = [pod(index, how) for index, how in enumerate([*hows, *["ready"] * (count - len(hows))])]

    result = calculator(pods).utilization_replicas(current, target, "cpu", metrics(*levels))

    assert (result.replicas, result.utilization, result.value) == expected


def test_about_as_wanted_is_as_wanted():
    pods = [pod(0, request="0.9"), pod(1), pod(2, request="1.1")]

    result = calculator(pods).utilization_replicas(3, 100, "cpu", metrics(1010, 1030, 1020))

    assert (result.replicas, result.utilization, result.value) == (3, 102, 1020)


@pytest.mark.parametrize(("target", "expected"), [(56, 9), (55, 10)], ids=["just outside", "just within"])
def test_the_tolerance_is_exact(target, expected):
    requests = ["400m", "200m", "310m", "290m", "302m", "298m", "301m", "299m", "300m", "300m"]
    pods = [pod(index, request=request) for index, request in enumerate(requests)]

    result = calculator(pods).utilization_replicas(10, target, "cpu", metrics(*[150] * 10))

    assert (result.replicas, result.utilization, result.value) == (expected, 50, 150)


def test_metrics_of_unknown_pods_do_not_count_in_the_share():
    pods = [pod(index) for index in range(4)]

    result = calculator(pods).utilization_replicas(4, 100, "cpu", metrics(4000, 9500, 3000, 7000, 3200, 2000))

    assert (result.replicas, result.utilization, result.value) == (24, 587, 5875)


@pytest.mark.parametrize(
    ("pods", "levels", "text"),
    [
        ([], [1], "no pods returned by selector while calculating replica count"),
        ([pod(0, "unready")], [1], r"did not receive metrics for targeted pods \(pods might be unready\)"),
        ([pod(0, request="")], [100], "missing request for cpu in container c of Pod p0"),
        ([pod(9)], [100], "no metrics returned matched known pods"),
    ],
    ids=["no pods", "no metrics", "no request", "other pods"],
)
def test_what_cannot_be_computed(pods, levels, text):
    with pytest.raises(NoMetric, match=f"^{text}$"):
        calculator(pods).utilization_replicas(1, 100, "cpu", metrics(*levels))


@pytest.mark.parametrize(
    ("current", "target", "levels", "hows", "expected"),
    [
        pytest.param(3, 15000, [20000, 10000, 30000], [], (4, 20000), id="up"),
        pytest.param(3, 15000, [50000, 10000, 30000], ["ready", "ready", "unready"], (6, 30000), id="readiness is no matter"),
        pytest.param(3, 15000, [50000, 15000, 30000], ["unready", "ready", "hot"], (7, 31666), id="nor is the start"),
        pytest.param(5, 20000, [12000] * 5, [], (3, 12000), id="down"),
        pytest.param(3, 20000, [20000, 21000, 21000], [], (3, 20666), id="about as wanted"),
        pytest.param(2, 1000, [500, None], [], (2, 500), id="a missing one is as wanted"),
    ],
)  # fmt: skip
def test_an_average_value(current, target, levels, hows, expected):
    pods = [pod(index, how) for index, how in enumerate([*hows, *["ready"] * (len(levels) - len(hows))])]

    result = calculator(pods).plain_replicas(current, target, metrics(*levels))

    assert (result.replicas, result.value) == expected


@pytest.mark.parametrize(
    ("current", "target", "value", "hows", "expected"),
    [
        pytest.param(3, 15000, 20000, ["ready"] * 3, 4, id="up"),
        pytest.param(3, 10000, 50000, ["ready", "unready", "unready"], 5, id="only ready pods count"),
        pytest.param(1, 4400, 8600, ["ready"], 2, id="up from one"),
        pytest.param(3, 4400, 8600, ["ready", "unready", "unready"], 2, id="even down"),
        pytest.param(5, 14334, 8600, ["ready"] * 5, 3, id="down"),
        pytest.param(3, 8888, 8600, ["ready"] * 3, 3, id="about as wanted"),
        pytest.param(0, 1000, 3200, [], 4, id="from none"),
        pytest.param(3, 1, 2**62, ["ready"] * 3, 2**31 - 1, id="no more than a number holds"),
    ],
)
def test_a_value_that_all_share(current, target, value, hows, expected):
    pods = [pod(index, how) for index, how in enumerate(hows)]

    assert calculator(pods).total_replicas(current, target, value).replicas == expected


@pytest.mark.parametrize(
    ("replicas", "target", "value", "expected"),
    [
        pytest.param(3, 10000, 40000, (4, 13334), id="up"),
        pytest.param(3, 2150, 8600, (4, 2867), id="up, rounded"),
        pytest.param(5, 2000, 6000, (3, 1200), id="down"),
        pytest.param(5, 2867, 8600, (3, 1720), id="down, rounded"),
        pytest.param(3, 2900, 8600, (3, 2867), id="about as wanted"),
        pytest.param(4, 5000, 20166, (4, 5042), id="about as wanted, rounded"),
    ],
)
def test_a_value_for_each(replicas, target, value, expected):
    result = calculator([]).per_pod_replicas(replicas, target, value)

    assert (result.replicas, result.value) == expected


def starting(*, started, since, ready, timestamp, window=60.0):
    made = pod(0)
    made["status"]["startTime"] = format_time(NOW - timedelta(seconds=started))
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": format_time(NOW - timedelta(seconds=since))}
    made["status"]["conditions"] = [condition]
    return made, {"p0": PodMetric(500, NOW - timedelta(seconds=timestamp), window)}


@pytest.mark.parametrize(
    ("facts", "counts"),
    [
        ({"started": 180, "since": 120, "ready": "True", "timestamp": 30}, True),
        ({"started": 180, "since": 80, "ready": "True", "timestamp": 30}, False),
        ({"started": 180, "since": 120, "ready": "False", "timestamp": 30}, False),
        ({"started": 600, "since": 590, "ready": "False", "timestamp": 30}, False),
        ({"started": 600, "since": 400, "ready": "False", "timestamp": 30}, True),
        ({"started": 600, "since": 590, "ready": "True", "timestamp": 30}, True),
        ({"started": 60, "since": 30, "ready": "True", "timestamp": 0, "window": 30.0}, True),
        ({"started": 60, "since": 30, "ready": "True", "timestamp": 0, "window": 60.0}, False),
        ({"started": 600, "since": 571, "ready": "False", "timestamp": 30}, False),
        ({"started": 600, "since": 540, "ready": "False", "timestamp": 30}, True),
    ],
    ids=[
        "starting, ready for a whole sample", "starting, ready within the sample", "starting, not ready",
        "never ready", "no longer ready", "ready",
        "ready for just a sample", "ready for half a sample", "unready within the delay", "unready after the delay",
    ],
)  # fmt: skip
def test_the_cpu_of_a_start_does_not_count(facts, counts):
    made, seen = starting(**facts)

    def computed():
        return calculator([made]).utilization_replicas(1, 50, "cpu", seen)

    if counts:
        assert computed().utilization == 50
    else:
        with pytest.raises(NoMetric):
            computed()


def test_sidecars_and_single_containers_and_pods_as_a_whole_request():
    spec = {
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "1"}}},
            {"name": "b", "resources": {"requests": {"cpu": "500m"}}},
        ],
        "initContainers": [
            {"name": "init", "resources": {}},
            {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
        ],
    }
    made = {"metadata": {"name": "p"}, "spec": spec}
    whole = {"metadata": {"name": "p"}, "spec": {**spec, "resources": {"requests": {"cpu": "3"}}}}

    assert request_of(made, "cpu") == 1600
    assert request_of(made, "cpu", "b") == 500
    assert request_of(whole, "cpu") == 3000
    assert request_of(whole, "cpu", "b") == 500
    with pytest.raises(NoMetric, match=r"^container x not found in Pod p$"):
        request_of(made, "cpu", "x")
    with pytest.raises(NoMetric, match=r"^missing pod-level request for memory in Pod p$"):
        request_of(whole, "memory")


def row(*containers):
    parts = [{"name": name, "usage": usage} for name, usage in containers]
    return {"metadata": {"name": "p", "namespace": "d"}, "window": "30s", "containers": parts}


def test_the_metrics_of_pods_and_containers_are_read():
    full, part = row(("a", {"cpu": "1"}), ("b", {"cpu": "200m"})), row(("a", {"cpu": "1"}), ("b", {}))

    assert pod_metrics([full], "cpu") == {"p": PodMetric(1200, None, 30.0)}
    assert pod_metrics([part, row()], "cpu") == {}
    assert container_metrics([full], "cpu", "b") == {"p": PodMetric(200, None, 30.0)}
    assert container_metrics([part], "cpu", "b") == {}
    with pytest.raises(NoMetric, match=r"container x not present in metrics for pod d/p$"):
        container_metrics([full], "cpu", "x")
