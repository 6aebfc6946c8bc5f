"""Pod groups in the queue, in the cluster's cache and in a cycle."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.podgroup.attempt import PodGroupStatus, PodResult, status
from hyperkube_host.scheduler.podgroup.conditions import group_patch
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue

from hyperkube.machinery.clock import FakeClock

NOW = datetime(2030, 1, 1, tzinfo=UTC)
G = ("default", "g")


def pod(name, group="g", **spec):
    grouped = {"schedulingGroup": {"podGroupName": group}} if group else {}
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {"metadata": metadata, "spec": {"containers": [], **grouped, **spec}}


@pytest.fixture
def queue():
    return SchedulingQueue(FakeClock(), lambda pod, at: at, lambda pod: pod["spec"].get("gate", ""))


def test_a_groups_pods_are_taken_together_wherever_they_wait(queue):
    for name in ("first", "backing-off", "parked"):
        queue.add(pod(name))
    queue.add(pod("gated", gate="SchedulingGates"))
    queue.add(pod("stranger", group="other"))
    queue.add(pod("alone", group=""))
    queued_pods = {queued.pod["metadata"]["name"]: queued for queued in (queue.pop() for _ in range(3))}
    queue.add_unschedulable(queued_pods["backing-off"], error=True)
    queue.add_unschedulable(queued_pods["parked"], unschedulable_plugins=["Fit"])

    taken = queue.pop_group(G)

    assert {queued.key for queued in taken} == {"default/backing-off", "default/parked"}, "the first is being tried"
    assert {queued.attempts for queued in taken} == {2}
    assert [queue.pop().key for _ in range(2)] == ["default/stranger", "default/alone"]
    assert queue.pop_group(G) == []


def test_a_pod_that_is_active_still_is_taken_once(queue):
    for name in ("a", "b"):
        queue.add(pod(name))
    first = queue.pop()
    (other,) = queue.pop_group(G)
    queue.add(pod("later", group=""))

    assert {first.key, other.key} == {"default/a", "default/b"}
    assert queue.pop().key == "default/later"


def test_pods_that_are_gone_are_not_taken(queue):
    queue.add(pod("a"))
    queue.delete("default/a")

    assert queue.pop_group(G) == []


def test_members_are_where_pods_are_bound_or_about_to_be():
    cache = SchedulerCache()
    cache.put_pod(pod("bound", nodeName="n1"))
    cache.put_pod(pod("stranger", group="other", nodeName="n1"))
    cache.put_pod(pod("pending"))

    assert cache.group_members(G) == {"default/bound": "n1"}
    cache.remove_pod(pod("bound", nodeName="n1"))
    assert cache.group_members(G) == {}


def tried(node=None, waits="", **words):
    return PodResult(None, None, None, node=node, waits=waits, **words)


@pytest.mark.parametrize(
    ("pods", "found"),
    [
        ([tried("n", "for more"), tried("n")], PodGroupStatus.FITS),
        ([tried("n", "for more"), tried()], PodGroupStatus.UNSCHEDULABLE),
        ([tried(), tried()], PodGroupStatus.UNSCHEDULABLE),
        ([], PodGroupStatus.UNSCHEDULABLE),
        ([tried("n", "for more", requires_preemption=True), tried("n")], PodGroupStatus.WAITS),
        ([tried("n", "for more", requires_preemption=True), tried("n", "for more")], PodGroupStatus.UNSCHEDULABLE),
        ([tried("n"), tried("n", requires_preemption=True)], PodGroupStatus.WAITS),
        ([tried("n"), tried()], PodGroupStatus.FITS),
    ],
    ids=[
        "all",
        "one too few",
        "none",
        "empty",
        "after eviction",
        "not even then",
        "the last needs room",
        "one is left",
    ],
)
def test_a_group_fits_once_one_of_its_pods_may_go(pods, found):
    assert status(pods) is found


def conditioned(status, reason, message="", generation=1, since="2029-01-01T00:00:00Z"):
    row = {
        "type": "PodGroupScheduled", "status": status, "reason": reason, "message": message,
        "observedGeneration": generation, "lastTransitionTime": since,
    }  # fmt: skip
    return {"metadata": {"generation": 1}, "status": {"conditions": [{"type": "Other"}, row]}}


def test_the_first_condition_has_the_time_and_the_generation():
    patch = group_patch({"metadata": {"generation": 3}}, "Unschedulable", "why", NOW)

    assert patch["status"]["conditions"] == [
        {
            "type": "PodGroupScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "why",
            "observedGeneration": 3,
            "lastTransitionTime": "2030-01-01T00:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("group", "reason", "message"),
    [
        (conditioned("True", "Scheduled"), "Unschedulable", "one more"),
        (conditioned("True", "Scheduled"), "Scheduled", ""),
        (conditioned("False", "Unschedulable", "why"), "Unschedulable", "why"),
    ],
    ids=["scheduled stays", "the same", "the same refusal"],
)
def test_what_is_said_already_is_not_said_again(group, reason, message):
    assert group_patch(group, reason, message, NOW) is None


def test_the_time_changes_with_the_status_only_and_other_conditions_stay():
    other, said = group_patch(conditioned("False", "Unschedulable", "why"), "SchedulerError", "oh", NOW)["status"][
        "conditions"
    ]
    fits = group_patch(conditioned("False", "Unschedulable", "why"), "Scheduled", "", NOW)["status"]["conditions"][1]

    assert other == {"type": "Other"}
    assert (said["reason"], said["lastTransitionTime"]) == ("SchedulerError", "2029-01-01T00:00:00Z")
    assert (fits["status"], fits["lastTransitionTime"]) == ("True", "2030-01-01T00:00:00Z")
