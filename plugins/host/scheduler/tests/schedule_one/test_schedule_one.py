"""What becomes of a pod whose binding failed."""

import threading
from types import SimpleNamespace

import pytest
from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.queue.cluster_events import POD_DELETED
from hyperkube_host.scheduler.queue.scheduling_queue import QueueState, SchedulingQueue
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_one import ScheduleOne
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler
from hyperkube_lib.scheduling.preparation import Preparation

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.scheduling import PostFilterResult
from hyperkube.machinery.clock import FakeClock
from hyperkube.testing.waiting import eventually

POD = {"metadata": {"name": "web", "namespace": "d", "uid": "u1"}, "spec": {}}


class Reports:
    """Takes note of what is reported, and in which part of the queue the pod was."""

    def __init__(self, queue):
        self._queue = queue
        self.told = []

    def record_failure(self, pod, reason, message, nominated=None):
        self.told.append((reason, message, self._queue.pending()[QueueState.IN_FLIGHT]))


@pytest.fixture
def parts():
    clock = FakeClock()
    metrics, cache = SchedulerMetrics(clock), SchedulerCache()
    queue = SchedulingQueue(clock, lambda pod, at: at)
    reports, binder = Reports(queue), Binder(clock, metrics)
    parts = SchedulerParts(
        client=FakeClient(), clock=clock, gates={}, cache=cache, queue=queue, binder=binder, api_dispatcher=reports,
        metrics=metrics, explanations=Explanations(),
    )  # fmt: skip
    queue.add(POD)
    yield parts
    binder.close()


@pytest.fixture
def world(parts):
    cycle = ScheduleOne(parts, None)
    yield cycle, parts.queue, parts.api_dispatcher
    cycle.close()


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


class NoNode:
    """The result of a pod that fits nowhere."""

    node, rejected, trace = None, ("NodeResourcesFit",), SimpleNamespace(size=0)

    def close(self, note):
        return f"0/1 nodes are available. {note}".rstrip()


class Preempts(PodScheduler):
    """Finds no node, and makes room for the pod on one: that ends when `open` is set."""

    def __init__(self, *parts, comes_to):
        super().__init__(*parts)
        self._comes_to = comes_to
        self.open = threading.Event()

    def schedule_pod(self, _profile, _info):
        return NoNode()

    def ask_post_filters(self, _profile, _info, _result):
        return Preparation(expected=PostFilterResult("n1", victims=3), carry_out=self._carry_out)

    def _carry_out(self):
        assert self.open.wait(30)
        return self._comes_to()


@pytest.fixture
def preempting(parts):
    """Yield what schedules the pod, which preempts three others; `begun(comes_to)` has it begin."""
    made = []

    def begun(comes_to=lambda: PostFilterResult("n1", victims=3)):
        preempts = Preempts(parts.cache, parts.metrics, comes_to=comes_to)
        made.append((ScheduleOne(parts, preempts), preempts))
        made[-1][0].schedule(None, parts.queue.pop())
        return preempts

    yield begun
    for cycle, preempts in made:
        preempts.open.set()
        cycle.close()


def test_room_is_made_beside_the_scheduling_and_the_pod_is_not_tried_before(preempting, parts):
    preempts = preempting()

    assert parts.cache.nominated_node("d/web") == "n1"
    assert parts.queue.pending()[QueueState.IN_FLIGHT] == 1
    assert parts.api_dispatcher.told == []
    preempts.open.set()
    eventually(lambda: parts.api_dispatcher.told)
    assert parts.api_dispatcher.told == [("Unschedulable", "0/1 nodes are available.", 0)]
    assert parts.queue.pending()[QueueState.UNSCHEDULABLE] == 1
    assert parts.cache.nominated_node("d/web") == "n1"


def test_a_victim_that_goes_meanwhile_lets_the_pod_be_tried_again(preempting, parts):
    preempts = preempting()
    parts.queue.move_all(POD_DELETED)

    preempts.open.set()

    eventually(lambda: parts.queue.pending()[QueueState.BACKOFF] == 1)


@pytest.mark.parametrize(
    ("comes_to", "told"),
    [
        (lambda: PostFilterResult(None, "preemption: not allowed", noop=True), "preemption: not allowed"),
        (lambda: {}["bug"], "preemption: internal error"),
    ],
    ids=["refused", "a bug"],
)
def test_where_no_room_can_be_made_the_node_is_free_for_others_and_the_pod_is_tried_again(
    preempting, parts, comes_to, told
):
    preempting(comes_to).open.set()

    eventually(lambda: parts.api_dispatcher.told)
    assert parts.api_dispatcher.told == [("Unschedulable", f"0/1 nodes are available. {told}", 0)]
    assert parts.cache.nominated_node("d/web") is None
    assert parts.queue.pending()[QueueState.BACKOFF] == 1
