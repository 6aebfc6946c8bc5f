"""What a queue counts, told as a scraper would read it."""

import pytest
from prometheus_client import CollectorRegistry

from hyperkube.client.queue_metrics import QueueMeters, measuring
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.client.workqueue import WorkQueue
from hyperkube.machinery.clock import FakeClock


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def meters():
    return QueueMeters({"pv-protection": "pvprotection"})


def told(meters, name, queue="q", **labels):
    registry = CollectorRegistry()
    registry.register(meters)
    return registry.get_sample_value(f"workqueue_{name}", {"name": queue, **labels})


def test_a_key_is_timed_while_it_waits_and_while_it_is_worked_on(clock, meters):
    queue = WorkQueue(clock, meter=meters.meter("q", clock))

    queue.add("a")
    queue.add("a")
    clock.advance(2)
    assert told(meters, "depth") == 1
    queue.get()
    clock.advance(30)
    assert told(meters, "unfinished_work_seconds") == 30
    assert told(meters, "longest_running_processor_seconds") == 30
    queue.done("a")

    assert told(meters, "adds_total") == 1
    assert told(meters, "depth") == 0
    assert told(meters, "queue_duration_seconds_sum") == 2
    assert told(meters, "queue_duration_seconds_bucket", le="1") == 0
    assert told(meters, "queue_duration_seconds_bucket", le="10") == 1
    assert told(meters, "work_duration_seconds_sum") == 30
    assert told(meters, "work_duration_seconds_count") == 1
    assert told(meters, "unfinished_work_seconds") == 0


def test_a_key_that_comes_back_while_it_is_worked_on_waits_from_then(clock, meters):
    queue = WorkQueue(clock, meter=meters.meter("q", clock))
    queue.add("a")
    queue.get()
    queue.add("a")
    clock.advance(5)

    queue.done("a")
    queue.get()

    assert told(meters, "adds_total") == 2
    assert told(meters, "queue_duration_seconds_sum") == 5


def test_what_is_put_off_counts_as_a_retry(clock, meters):
    queue = WorkQueue(clock, meter=meters.meter("q", clock))

    queue.add_rate_limited("a")
    queue.add_after("b", 3)

    assert told(meters, "retries_total") == 2


def test_a_queue_that_is_shut_down_is_empty(clock, meters):
    queue = WorkQueue(clock, meter=meters.meter("q", clock))
    queue.add("a")

    queue.shut_down()
    queue.add_after("a", 1)

    assert told(meters, "depth") == 0
    assert told(meters, "retries_total") == 0


def test_loops_report_to_who_measured_when_they_were_built(clock, meters):
    before = ReconcileLoop("before", lambda _key: None, clock=clock)
    with measuring(meters):
        loop = ReconcileLoop("pv-protection", lambda _key: None, clock=clock)
    for each in (before, loop):
        each.queue.add("a")

    assert loop.drain() == 1

    assert told(meters, "work_duration_seconds_count", "pvprotection") == 1
    assert told(meters, "adds_total", "before") is None


def test_two_queues_of_one_name_are_told_apart(clock, meters):
    first, second = (WorkQueue(clock, meter=meters.meter("q", clock)) for _ in range(2))

    first.add("a")
    second.add("a")
    second.add("b")

    assert (told(meters, "adds_total"), told(meters, "adds_total", "q-2")) == (1, 2)
