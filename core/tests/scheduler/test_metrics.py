"""The scheduler's metrics, read as Prometheus reads them."""

import pytest

pytest.importorskip("prometheus_client")

from prometheus_client.parser import text_string_to_metric_families

from hyperkube.machinery.clock import FakeClock
from hyperkube.scheduler.cluster_state import ClusterState
from hyperkube.scheduler.metrics import PointTimes, SchedulerMetrics, offer_gauges
from hyperkube.scheduler.queue import SchedulingQueue


def samples(metrics):
    """Every sample by its name and sorted label values."""
    return {
        (sample.name, tuple(sorted(sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def pod(name, **spec):
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": {"containers": [], **spec}}


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def metrics(clock):
    return SchedulerMetrics(clock)


def test_attempts_are_counted_and_timed_by_result(metrics):
    metrics.attempt("scheduled", "default-scheduler", 0.003)
    metrics.attempt("scheduled", "default-scheduler", 0.5)
    metrics.attempt("unschedulable", "default-scheduler", 0.001)

    found = samples(metrics)
    assert found["scheduler_schedule_attempts_total", ("default-scheduler", "scheduled")] == 2
    assert found["scheduler_schedule_attempts_total", ("default-scheduler", "unschedulable")] == 1
    name = "scheduler_scheduling_attempt_duration_seconds"
    assert found[f"{name}_bucket", ("0.004", "default-scheduler", "scheduled")] == 1
    assert found[f"{name}_bucket", ("+Inf", "default-scheduler", "scheduled")] == 2
    assert found[f"{name}_sum", ("default-scheduler", "scheduled")] == pytest.approx(0.503)


def test_a_bound_pod_counts_its_attempts_and_its_whole_wait(metrics):
    metrics.bound(1, 0.02)
    metrics.bound(40, 70)

    found = samples(metrics)
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count", ("1",)] == 1
    assert found["scheduler_pod_scheduling_sli_duration_seconds_count", ("15+",)] == 1
    assert found["scheduler_pod_scheduling_attempts_bucket", ("1",)] == 1
    assert found["scheduler_pod_scheduling_attempts_count", ()] == 2


def test_victims_and_attempts_to_make_room(metrics):
    metrics.preempted(0)
    metrics.preempted(3)

    found = samples(metrics)
    assert found["scheduler_preemption_attempts_total", ()] == 2
    assert found["scheduler_preemption_victims_count", ()] == 1
    assert found["scheduler_preemption_victims_sum", ()] == 3


def test_an_extension_points_time_is_the_clocks(metrics, clock):
    laps = PointTimes(metrics, "mine")

    laps.begin()
    clock.advance(0.2)
    laps.lap("Filter", "Success")
    clock.advance(0.4)
    laps.lap("Score", "Success")

    found = samples(metrics)
    name = "scheduler_framework_extension_point_duration_seconds_sum"
    assert found[name, ("Filter", "Success", "mine")] == pytest.approx(0.2)
    assert found[name, ("Score", "Success", "mine")] == pytest.approx(0.4)


def test_the_queue_counts_who_comes_in_and_who_is_there(metrics, clock):
    queue = SchedulingQueue(
        clock, lambda pod, at: at, lambda pod: pod["spec"].get("gate", ""), incoming=metrics.incoming
    )
    offer_gauges(metrics, queue, ClusterState())

    queue.put(pod("a"))
    queue.put(pod("gated", gate="SchedulingGates"))
    queue.put_back(queue.get(), refused_by=["NodeResourcesFit"])

    found = samples(metrics)
    assert found["scheduler_queue_incoming_pods_total", ("UnscheduledPodAdd", "active")] == 1
    assert found["scheduler_queue_incoming_pods_total", ("UnscheduledPodAdd", "gated")] == 1
    assert found["scheduler_queue_incoming_pods_total", ("ScheduleAttemptFailure", "unschedulable")] == 1
    assert {
        queue: found["scheduler_pending_pods", (queue,)] for queue in ("active", "backoff", "unschedulable", "gated")
    } == {
        "active": 0,
        "backoff": 0,
        "unschedulable": 1,
        "gated": 1,
    }
    assert found["scheduler_unschedulable_pods", ("NodeResourcesFit", "default-scheduler")] == 1
    assert found["scheduler_scheduler_cache_size", ("nodes",)] == 0


def test_a_move_is_counted_by_what_happened(metrics, clock):
    queue = SchedulingQueue(clock, lambda pod, at: at, incoming=metrics.incoming)
    queue.put(pod("a"))
    queue.put_back(queue.get())

    queue.move("pod gone")
    clock.advance(1)

    found = samples(metrics)
    assert found["scheduler_queue_incoming_pods_total", ("AssignedPodDelete", "backoff")] == 1
    assert found["scheduler_queue_incoming_pods_total", ("BackoffComplete", "active")] == 1
