"""A group is tried pod by pod, and everything is taken back.

Cases: kubernetes ``pkg/scheduler/schedule_one_podgroup_test.go`` (TestPodGroupSchedulingDefaultAlgorithm, 1.36).
"""

from random import Random
from types import SimpleNamespace

import pytest

pytest.importorskip("numpy")

import numpy as np
from hyperkube_host.scheduler.binding.binder import Binder
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_host.scheduler.framework.algorithm import Algorithm
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.podgroup.attempt import PodGroupAttempt, PodGroupStatus
from hyperkube_host.scheduler.profile.profiles import Profile
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler
from hyperkube_testing.scheduling.tables import node

from hyperkube.hookspecs.scheduling import (
    Filtered,
    FilterPlugin,
    Permission,
    PermitPlugin,
    PostFilterPlugin,
    PostFilterResult,
)
from hyperkube.machinery.clock import FakeClock

FITS, NO, MORE = "fits", "no", "needs room"
GO, WAIT, REFUSE = "go", "wait", "refuse"


class Scripted(FilterPlugin, PostFilterPlugin, PermitPlugin):
    """Says what it is told to, by the pod's name."""

    def __init__(self, script):
        super().__init__(None)
        self.script = script

    def filter(self, pod, nodes):
        fits = self.script[pod.pod["metadata"]["name"]][0] == FITS
        return Filtered(np.full(len(nodes), fits), {} if fits else {"told so": np.ones(len(nodes), dtype=bool)})

    def post_filter(self, pod, nodes, refused, dry_run):
        helps = self.script[pod.pod["metadata"]["name"]][0] == MORE
        return PostFilterResult("node1" if helps else None, "" if helps else "of no use")

    def permit(self, pod, node):
        said = self.script[pod.pod["metadata"]["name"]][1]
        return Permission(said == GO, reason="told so", wait_seconds=60.0 if said == WAIT else 0.0)


@pytest.fixture
def attempt():
    """Return what tries a group of p1, p2, p3 by a script, on one node; and the cluster's cache."""
    binders = []

    def made(script, **words):
        clock, cache = FakeClock(), SchedulerCache()
        cache.put_node(node("node1"))
        metrics, plugin = SchedulerMetrics(clock), Scripted(dict(zip(("p1", "p2", "p3"), script, strict=True)))
        rows = (("Scripted", plugin),)
        profile = SimpleNamespace(filters=rows, post_filters=rows, permits=rows, reserves=())
        queue = SchedulingQueue(clock, lambda pod, at: at)
        for name in plugin.script:
            metadata = {"name": name, "namespace": "ns", "uid": name}
            spec = {"containers": [], "schedulingGroup": {"podGroupName": "g"}}
            queue.add({"metadata": metadata, "spec": spec})
        binders.append(Binder(clock, metrics))
        queued_pods = [queue.pop() for _ in script]
        profile = Profile(profile, Algorithm(rows, (), Random(1)))
        return cache, PodGroupAttempt(
            profile, queued_pods, lambda queued: PreparedPod.of(queued.pod, cache.table()),
            cache=cache, pod_scheduler=PodScheduler(cache, metrics), binder=binders[-1], **words,
        )  # fmt: skip

    yield made
    for binder in binders:
        binder.close()


@pytest.mark.parametrize(
    ("script", "status", "placed"),
    [
        ([(FITS, GO)] * 3, PodGroupStatus.FITS, "p1 p2 p3"),
        ([(FITS, WAIT), (FITS, WAIT), (FITS, GO)], PodGroupStatus.FITS, "p1 p2 p3"),
        ([(FITS, WAIT)] * 3, PodGroupStatus.UNSCHEDULABLE, "p1 p2 p3"),
        ([(FITS, GO), (FITS, GO), (FITS, WAIT)], PodGroupStatus.FITS, "p1 p2 p3"),
        ([(FITS, WAIT), (FITS, REFUSE), (FITS, GO)], PodGroupStatus.FITS, "p1 p3"),
        ([(MORE, GO)] * 3, PodGroupStatus.WAITS, "p1 p2 p3"),
        ([(MORE, WAIT)] * 3, PodGroupStatus.UNSCHEDULABLE, "p1 p2 p3"),
        ([(MORE, WAIT), (FITS, WAIT), (FITS, GO)], PodGroupStatus.WAITS, "p1 p2 p3"),
        ([(MORE, GO), (NO, GO), (FITS, GO)], PodGroupStatus.WAITS, "p1 p3"),
        ([(NO, GO)] * 3, PodGroupStatus.UNSCHEDULABLE, ""),
    ],
    ids=[
        "all", "two wait", "all wait", "the last waits", "one is refused", "all need room", "all need room and wait",
        "one needs room", "one needs room, one fits nowhere", "none",
    ],
)  # fmt: skip
def test_what_comes_of_a_group(attempt, script, status, placed):
    cache, group = attempt(script)

    outcome = group.run()

    assert outcome.status is status
    assert " ".join(sorted(key.partition("/")[2] for key in outcome.assignments())) == placed
    assert [each.requires_preemption for each in outcome.pod_results] == [told == MORE for told, _ in script]
    assert cache.group_members(("ns", "g")) == {}, "everything is taken back"
    assert cache.sizes()["assumed_pods"] == 0


def test_why_not_is_each_pods_own(attempt):
    _, group = attempt([(NO, GO), (FITS, REFUSE), (FITS, WAIT)])

    nowhere, refused, waits = group.run().pod_results

    assert nowhere.message == "0/1 nodes are available: 1 told so. of no use"
    assert nowhere.unschedulable_plugins == ("Scripted",)
    assert refused.message == "permit plugin 'Scripted': told so"
    assert (waits.message, waits.waits, waits.node) == ("", "told so", "node1")


def test_no_room_is_made_where_that_is_not_wanted(attempt):
    _, group = attempt([(MORE, GO)] * 3, why_no_preemption="preemption: not for groups")

    outcome = group.run()

    assert outcome.status is PodGroupStatus.UNSCHEDULABLE
    assert outcome.pod_results[0].message == "0/1 nodes are available: 1 told so. preemption: not for groups"


def test_only_the_nodes_of_the_placement_are_chosen_from(attempt):
    cache, group = attempt([(FITS, GO)] * 3)
    cache.put_node(node("node2"))
    among = np.array([name == "node2" for name in cache.table().names])

    assert set(group.run(among).assignments().values()) == {"node2"}


def test_an_earlier_nomination_outlives_the_attempt(attempt):
    cache, group = attempt([(FITS, WAIT)] * 3)
    first = {"metadata": {"name": "p1", "namespace": "ns", "uid": "p1"}, "spec": {"containers": []}}
    cache.nominate(first, "node1", 0)

    group.run()

    assert cache.nominated_node("ns/p1") == "node1"
