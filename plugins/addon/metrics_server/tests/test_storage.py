"""What was used between two scrapes."""

import pytest
from hyperkube_addon.metrics_server.decode import MetricsBatch, MetricsPoint
from hyperkube_addon.metrics_server.storage import MetricsStorage, Usage, previous_point, usage_between

POD = ("default", "p")


def node(timestamp, cpu, memory=100):
    return MetricsBatch(nodes={"n": MetricsPoint(timestamp, cpu, memory)})


def pod(**containers):
    return MetricsBatch(pods={POD: containers})


def test_a_node_is_known_after_two_scrapes():
    storage = MetricsStorage(15.0)
    storage.store([node(100.0, 10.0)])

    assert storage.node_usage("n") is None
    assert not storage.is_ready

    storage.store([node(110.0, 15.0, 7)])

    assert storage.node_usage("n") == Usage(110.0, 10.0, 500_000_000, 7)
    assert storage.is_ready


def test_the_same_measurement_again_changes_nothing():
    storage = MetricsStorage(15.0)
    for batch in (node(100.0, 10.0), node(110.0, 15.0), node(110.0, 15.0)):
        storage.store([batch])

    assert storage.node_usage("n") == Usage(110.0, 10.0, 500_000_000, 100)


def test_a_node_that_does_not_answer_is_forgotten():
    storage = MetricsStorage(15.0)
    for batch in (node(100.0, 10.0), node(110.0, 15.0), MetricsBatch()):
        storage.store([batch])

    assert storage.node_usage("n") is None


def test_a_pod_is_known_when_all_its_containers_are():
    storage = MetricsStorage(15.0)
    storage.store([pod(a=MetricsPoint(100.0, 1.0, 5))])
    storage.store([pod(a=MetricsPoint(115.0, 4.0, 6), b=MetricsPoint(115.0, 1.0, 5))])

    assert storage.pod_usage(*POD) == {}

    storage.store([pod(a=MetricsPoint(130.0, 4.0, 6), b=MetricsPoint(130.0, 16.0, 5))])

    assert storage.pod_usage(*POD) == {"a": Usage(130.0, 15.0, 0, 6), "b": Usage(130.0, 15.0, 1_000_000_000, 5)}


def test_a_restarted_container_is_no_longer_compared_with_its_former_self():
    storage = MetricsStorage(15.0)
    storage.store([pod(a=MetricsPoint(100.0, 50.0, 5, 10.0))])
    storage.store([pod(a=MetricsPoint(115.0, 1.0, 6, 113.0))])

    assert storage.pod_usage(*POD) == {}


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        pytest.param(103.0, MetricsPoint(103.0, 0.0, 0, 103.0), id="between-ten-seconds-and-the-resolution"),
        pytest.param(106.0, None, id="too-young"),
        pytest.param(90.0, None, id="older-than-the-resolution"),
        pytest.param(0.0, None, id="untold"),
    ],
)
def test_a_fresh_container_is_measured_from_its_start(start, expected):
    assert previous_point(MetricsPoint(115.0, 1.0, 5, start), None, None, 15.0) == expected


def test_a_counter_that_was_set_back_says_nothing():
    assert usage_between(MetricsPoint(110.0, 1.0, 5), MetricsPoint(100.0, 2.0, 5)) is None
    assert usage_between(MetricsPoint(100.0, 2.0, 5), MetricsPoint(100.0, 2.0, 5)) is None
