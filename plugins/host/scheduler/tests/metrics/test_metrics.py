"""The scheduler's metrics, read as Prometheus reads them."""

import pytest

pytest.importorskip("prometheus_client")

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.gauges import offer_gauges
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import EVERY_HINT, PointTimes, TimedQueueingHint
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue
from prometheus_client.parser import text_string_to_metric_families

from hyperkube.machinery.clock import FakeClock


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
    timer = PointTimes(metrics, "mine")

    timer.begin()
    clock.advance(0.2)
    timer.observe_point("Filter", "Success")
    clock.advance(0.4)
    timer.observe_point("Score", "Success")

    found = samples(metrics)
    name = "scheduler_framework_extension_point_duration_seconds_sum"
    assert found[name, ("Filter", "Success", "mine")] == pytest.approx(0.2)
    assert found[name, ("Score", "Success", "mine")] == pytest.approx(0.4)


def test_the_queue_counts_who_comes_in_and_who_is_there(metrics, clock):
    queue = SchedulingQueue(
        clock, lambda pod, at: at, lambda pod: pod["spec"].get("gate", ""), incoming=metrics.incoming
    )
    offer_gauges(metrics, queue, SchedulerCache())

    queue.add(pod("a"))
    queue.add(pod("gated", gate="SchedulingGates"))
    queue.add_unschedulable(queue.pop(), unschedulable_plugins=["NodeResourcesFit"])

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
    assert found["scheduler_cache_size", ("nodes",)] == 0


def test_a_move_is_counted_by_what_happened(metrics, clock):
    queue = SchedulingQueue(clock, lambda pod, at: at, incoming=metrics.incoming)
    queue.add(pod("a"))
    queue.add_unschedulable(queue.pop())

    queue.move_all("pod gone")
    clock.advance(1)

    found = samples(metrics)
    assert found["scheduler_queue_incoming_pods_total", ("AssignedPodDelete", "backoff")] == 1
    assert found["scheduler_queue_incoming_pods_total", ("BackoffComplete", "active")] == 1


NAMES = {  # what kube-scheduler 1.36 offers by default, besides what is said of batches (there are none here)
    "cache_size": {"type"},
    "event_handling_duration_seconds": {"event"},
    "framework_extension_point_duration_seconds": {"extension_point", "status", "profile"},
    "goroutines": {"operation"},
    "inflight_events": {"event"},
    "pending_pods": {"queue"},
    "permit_wait_duration_seconds": {"result"},
    "plugin_evaluation_total": {"plugin", "extension_point", "profile"},
    "plugin_execution_duration_seconds": {"plugin", "extension_point", "status"},
    "pod_scheduled_after_flush_total": set(),
    "pod_scheduling_attempts": set(),
    "pod_scheduling_sli_duration_seconds": {"attempts"},
    "preemption_attempts_total": set(),
    "preemption_goroutines_duration_seconds": {"result"},
    "preemption_goroutines_execution_total": {"result"},
    "preemption_victims": set(),
    "queue_incoming_pods_total": {"queue", "event"},
    "queueing_hint_execution_duration_seconds": {"plugin", "event", "hint"},
    "schedule_attempts_total": {"result", "profile"},
    "scheduling_algorithm_duration_seconds": set(),
    "scheduling_attempt_duration_seconds": {"result", "profile"},
    "unschedulable_pods": {"plugin", "profile"},
    "podgroup_schedule_attempts_total": {"result", "profile"},
    "podgroup_scheduling_attempt_duration_seconds": {"result", "profile"},
    "podgroup_scheduling_algorithm_duration_seconds": set(),
}


def test_names_and_labels_are_kubernetes(metrics, clock):
    queue = SchedulingQueue(clock, lambda pod, at: at)
    offer_gauges(metrics, queue, SchedulerCache())
    queue.add(pod("a"))
    queue.add_unschedulable(queue.pop(), unschedulable_plugins=["Fit"])
    metrics.attempt("scheduled", "p", 1)
    metrics.bound(1, 1)
    metrics.decided(1)
    metrics.preempted(1)
    metrics.evicted("success", 1)
    metrics.incoming("active", "NodeAdd")
    metrics.point("Filter", "Success", "p", 1)
    metrics.plugins([(("Fit", "Filter", "Success"), 1)])
    metrics.evaluated(("Fit",), "Filter", "p")
    metrics.hint("Fit", "NodeAdd", "Queue", 1)
    metrics.event("NodeAdd", 1)
    metrics.waited("scheduled", 1)
    metrics.group("scheduled", "p", 1)
    metrics.group_decided(1)

    found = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            name = sample.name.removeprefix("scheduler_")
            for end in ("_bucket", "_sum", "_count", "_created"):
                name = name.removesuffix(end) if family.type == "histogram" else name
            if sample.name.startswith("scheduler_"):
                found[name] = set(sample.labels) - {"le"}
    assert found == NAMES


def test_a_plugins_time_is_taken_in_some_cycles_only(metrics, clock):
    def slow(_pod, _node):
        clock.advance(0.25)
        return "no"

    always, never = PointTimes(metrics, "mine", share=1.0), PointTimes(metrics, "mine", share=0.0)
    for timer, plugin in ((always, "Volumes"), (never, "Other")):
        timer.begin()
        assert timer.ask(plugin, "PreBind", slow, None, "node") == "no"
        timer.observe_point("PreBind", "Unschedulable")

    found = samples(metrics)
    name = "scheduler_plugin_execution_duration_seconds_sum"
    assert found[name, ("PreBind", "Unschedulable", "Volumes")] == pytest.approx(0.25)
    assert (name, ("Other", "PreBind", "Unschedulable")) not in found


def test_a_plugin_that_fails_is_timed_as_an_error(metrics):
    def fails(_pod, _node):
        raise KeyError

    timer = PointTimes(metrics, "mine", share=1.0)
    timer.begin()
    with pytest.raises(KeyError):
        timer.ask("Volumes", "PreBind", fails, None, "node")
    timer.observe_point("PreBind", "Error")

    name = "scheduler_plugin_execution_duration_seconds_count"
    assert samples(metrics)[name, ("Error", "PreBind", "Volumes")] == 1


def test_plugins_that_are_asked_in_a_row_are_timed_from_one_to_the_next(metrics, clock):
    np = pytest.importorskip("numpy")
    from hyperkube.hookspecs.scheduling import Filtered

    timer = PointTimes(metrics, "mine", share=1.0)
    timer.begin()
    clock.advance(5)
    timer.start_plugins()
    clock.advance(0.5)
    timer.observe_plugin("Fit", "Filter", Filtered(np.array([False, False])))
    clock.advance(0.25)
    timer.observe_plugin("Taints", "Filter", Filtered(np.array([True, False])))
    timer.observe_point("Filter", "Unschedulable")

    found = samples(metrics)
    name = "scheduler_plugin_execution_duration_seconds_sum"
    assert found[name, ("Filter", "Fit", "Unschedulable")] == pytest.approx(0.5)
    assert found[name, ("Filter", "Success", "Taints")] == pytest.approx(0.25)


def test_every_plugin_behind_kept_answers_is_counted_each_turn(metrics):
    timer = PointTimes(metrics, "mine")
    for _ in range(3):
        timer.evaluation_counts(["Fit", "Taints"], ["Fit"]).filtered += 1
    timer.evaluation_counts(["Fit", "Taints"], ["Fit"]).scored += 1
    timer.evaluated(("Affinity",), "Filter")

    found = samples(metrics)
    name = "scheduler_plugin_evaluation_total"
    assert found[name, ("Filter", "Fit", "mine")] == 3
    assert found[name, ("Fit", "Score", "mine")] == 1
    assert found[name, ("Affinity", "Filter", "mine")] == 1
    assert samples(metrics)[name, ("Filter", "Taints", "mine")] == 3, "reading counts nothing"


def test_hints_are_answered_always_and_timed_now_and_then(metrics):
    hints = TimedQueueingHint(lambda _plugin, change: change == "node", metrics)

    answers = [hints("Fit", "node") for _ in range(EVERY_HINT)]

    assert answers == [True] * EVERY_HINT
    name = "scheduler_queueing_hint_execution_duration_seconds_count"
    assert samples(metrics)[name, ("Fit", "NodeUpdate", "Queue")] == 1


def test_a_pod_that_waited_in_vain_is_counted_when_it_is_bound(metrics, clock):
    queue = SchedulingQueue(clock, lambda pod, at: at, unschedulable_seconds=300)
    queue.add(pod("a"))
    queue.add_unschedulable(queue.pop(), unschedulable_plugins=["Fit"])
    clock.advance(301)
    queued = queue.pop()
    metrics.bound(queued.attempts, 1, flushed=queued.flushed)
    queue.add_unschedulable(queued, error=True)
    clock.advance(20)

    assert samples(metrics)["scheduler_pod_scheduled_after_flush_total", ()] == 1
    assert not queue.pop().flushed


def test_events_are_in_flight_as_long_as_pods_are(metrics, clock):
    queue = SchedulingQueue(clock, lambda pod, at: at)
    queue.add(pod("a"))
    queued = queue.pop()
    queue.move_all("node")

    assert queue.in_flight_events() == {"PodPopped": 1, "NodeUpdate": 1}
    queue.done(queued)
    assert queue.in_flight_events() == {"PodPopped": 0}
