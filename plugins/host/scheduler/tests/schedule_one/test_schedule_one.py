"""What becomes of a pod whose binding failed."""

import pytest
from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.queue.scheduling_queue import QueueState, SchedulingQueue
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_one import ScheduleOne

from hyperkube.client.fake import FakeClient
from hyperkube.machinery.clock import FakeClock

POD = {"metadata": {"name": "web", "namespace": "d", "uid": "u1"}, "spec": {}}


class Reports:
    """Takes note of what is reported, and in which part of the queue the pod was."""

    def __init__(self, queue):
        self._queue = queue
        self.told = []

    def record_failure(self, pod, reason, message, nominated=None):
        self.told.append((reason, message, self._queue.pending()[QueueState.IN_FLIGHT]))


@pytest.fixture
def world():
    clock = FakeClock()
    metrics, cache = SchedulerMetrics(clock), SchedulerCache()
    queue = SchedulingQueue(clock, lambda pod, at: at)
    reports, binder = Reports(queue), Binder(clock, metrics)
    parts = SchedulerParts(
        client=FakeClient(), clock=clock, gates={}, cache=cache, queue=queue, binder=binder, api_dispatcher=reports,
        metrics=metrics, explanations=Explanations(),
    )  # fmt: skip
    queue.add(POD)
    yield ScheduleOne(parts, None), queue, reports
    binder.close()


@pytest.mark.parametrize(("rejected", "reason"), [(True, "Unschedulable"), (False, "SchedulerError")])
def test_it_is_reported_before_the_pod_can_be_bound_again(world, rejected, reason):
    cycle, queue, reports = world

    cycle.binding_finished(queue.pop(), "n1", NotBound("no", rejected=rejected), 0.0)

    assert reports.told == [(reason, "no", 1)]
    assert queue.pending()[QueueState.IN_FLIGHT] == 0
    assert queue.holds(POD)


def test_a_pod_that_the_api_does_not_know_waits_for_news_of_its_deletion_and_nothing_is_written(world):
    cycle, queue, reports = world

    cycle.binding_finished(queue.pop(), "n1", NotBound("no such pod", rejected=False, gone=True), 0.0)

    assert reports.told == []
    assert queue.pending()[QueueState.BACKOFF] == 1


def test_of_a_pod_that_was_deleted_meanwhile_nothing_is_written(world):
    cycle, queue, reports = world
    queued = queue.pop()
    queue.delete("d/web")

    cycle.binding_finished(queued, "n1", NotBound("no", rejected=False), 0.0)

    assert reports.told == []
    assert not queue.holds(POD)
