"""The cycle of a pod group: what becomes of all its pods when something is wrong with one."""

import pytest

pytest.importorskip("numpy")
pytest.importorskip("prometheus_client")

from hyperkube_host.scheduler.binding.binder import Binder
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.podgroup.cycle import PodGroupCycle
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler
from prometheus_client.parser import text_string_to_metric_families

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import POD_GROUPS
from hyperkube.machinery.clock import FakeClock


def pod(name, group="g", **spec):
    grouped = {"schedulingGroup": {"podGroupName": group}} if group else {}
    return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"containers": [], **grouped, **spec}}


class Groups:
    """The informer of PodGroups, which has seen them as they were first."""

    def __init__(self, client):
        (self._seen,) = client.seed(POD_GROUPS, {"metadata": {"name": "g", "namespace": "ns"}, "spec": {}})

    def get(self, namespace, name):
        return self._seen


class Told:
    """Takes note of what came of pods and of groups."""

    def __init__(self):
        self.refused_with, self.attempts, self.writes = {}, [], []

    def prepare(self, queued):
        raise KeyError(queued.key)

    def attempted(self, queued, result, started):
        self.attempts.append((queued.key, result))

    def record_failure(self, pod, reason, message, nominated=None):
        self.refused_with[pod["metadata"]["name"]] = (reason, message)

    def add(self, key, write):
        self.writes.append(write)


@pytest.fixture
def world():
    clock, client, told = FakeClock(), FakeClient(), Told()
    metrics, cache = SchedulerMetrics(clock), SchedulerCache()
    queue = SchedulingQueue(clock, lambda pod, at: at)
    binder = Binder(clock, metrics)
    parts = SchedulerParts(
        client=client, clock=clock, gates={}, cache=cache, queue=queue, binder=binder, api_dispatcher=told,
        metrics=metrics, explanations=Explanations(),
    )  # fmt: skip
    cycle = PodGroupCycle(parts, told, PodScheduler(cache, metrics), Groups(client))
    told.client = client
    yield cycle, queue, told, metrics
    binder.close()


def test_only_pods_of_a_group_are_its_affair(world):
    cycle, queue, _, _ = world
    queue.add(pod("a"))
    queue.add(pod("b", group=""))

    assert [cycle.takes(queue.pop()) for _ in range(2)] == [True, False]


def test_a_bug_at_one_pod_leaves_none_of_the_others_in_the_air(world):
    cycle, queue, _, _ = world
    for name in "abc":
        queue.add(pod(name))
    first = queue.pop()

    with pytest.raises(KeyError):
        cycle.schedule(None, first)

    assert queue.pending()["in_flight"] == 1, "the first is its caller's"
    assert queue.pending()["backoff"] == 2


def test_pods_with_several_schedulers_are_put_back_with_an_error(world):
    cycle, queue, told, metrics = world
    queue.add(pod("a", schedulerName="mine"))
    queue.add(pod("b", schedulerName="other", priority=7))

    cycle.schedule(None, queue.pop())

    text = 'all pods in a single pod group should have the same .spec.schedulerName set, got: "other" and "mine"'
    assert told.refused_with == {"a": ("SchedulerError", text), "b": ("SchedulerError", text)}
    assert told.attempts == [("ns/b", "error"), ("ns/a", "error")], "by priority"
    assert queue.pending()["backoff"] == 2
    assert len(told.writes) == 1
    counts = {
        sample.labels["result"]: sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if sample.name == "scheduler_podgroup_schedule_attempts_total"
    }
    assert counts == {"error": 1}


@pytest.mark.parametrize("before", ["True", "False"])
def test_a_failure_does_not_undo_a_success_that_was_not_seen_yet(world, before):
    cycle, queue, told, _ = world
    queue.add(pod("a", schedulerName="mine"))
    queue.add(pod("b", schedulerName="other"))
    cycle.schedule(None, queue.pop())
    row = {"type": "PodGroupScheduled", "status": before, "reason": "Before"}
    told.client.patch(POD_GROUPS, "g", {"status": {"conditions": [row]}}, "ns", subresource="status")

    told.writes[0]()

    (after,) = told.client.get(POD_GROUPS, "g", "ns")["status"]["conditions"]
    assert after["reason"] == ("Before" if before == "True" else "SchedulerError")


def test_a_group_whose_pods_all_went_is_no_affair_at_all(world):
    cycle, queue, told, _ = world
    queue.add(pod("a"))
    queued = queue.pop()
    queue.delete("ns/a")

    cycle.schedule(None, queued)

    assert (told.attempts, told.writes) == ([], [])
