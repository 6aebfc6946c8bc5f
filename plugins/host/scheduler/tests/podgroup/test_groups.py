"""Pod groups in the queue, in the cluster's state and in a cycle."""

from datetime import UTC, datetime

import pytest
from hyperkube_host.scheduler.cache.cache import ClusterState
from hyperkube_host.scheduler.podgroup.attempt import Tried, Verdict, verdict
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
        queue.put(pod(name))
    queue.put(pod("gated", gate="SchedulingGates"))
    queue.put(pod("stranger", group="other"))
    queue.put(pod("alone", group=""))
    tickets = {ticket.pod["metadata"]["name"]: ticket for ticket in (queue.get() for _ in range(3))}
    queue.put_back(tickets["backing-off"], error=True)
    queue.put_back(tickets["parked"], refused_by=["Fit"])

    taken = queue.take_group(G)

    assert {ticket.key for ticket in taken} == {"default/backing-off", "default/parked"}, "the first is being tried"
    assert {ticket.attempts for ticket in taken} == {2}
    assert [queue.get().key for _ in range(2)] == ["default/stranger", "default/alone"]
    assert queue.take_group(G) == []


def test_a_pod_that_is_active_still_is_taken_once(queue):
    for name in ("a", "b"):
        queue.put(pod(name))
    first = queue.get()
    (other,) = queue.take_group(G)
    queue.put(pod("later", group=""))

    assert {first.key, other.key} == {"default/a", "default/b"}
    assert queue.get().key == "default/later"


def test_pods_that_are_gone_are_not_taken(queue):
    queue.put(pod("a"))
    queue.remove("default/a")

    assert queue.take_group(G) == []


def test_members_are_where_pods_are_bound_or_about_to_be():
    state = ClusterState()
    state.pod(pod("bound", nodeName="n1"))
    state.pod(pod("stranger", group="other", nodeName="n1"))
    state.pod(pod("pending"))

    assert state.members(G) == {"default/bound": "n1"}
    state.pod_gone(pod("bound", nodeName="n1"))
    assert state.members(G) == {}


def tried(node=None, waits="", **words):
    return Tried(None, None, None, node=node, waits=waits, **words)


@pytest.mark.parametrize(
    ("pods", "found"),
    [
        ([tried("n", "for more"), tried("n")], Verdict.FITS),
        ([tried("n", "for more"), tried()], Verdict.REFUSED),
        ([tried(), tried()], Verdict.REFUSED),
        ([], Verdict.REFUSED),
        ([tried("n", "for more", needs_room=True), tried("n")], Verdict.WAITS),
        ([tried("n", "for more", needs_room=True), tried("n", "for more")], Verdict.REFUSED),
        ([tried("n"), tried("n", needs_room=True)], Verdict.WAITS),
        ([tried("n"), tried()], Verdict.FITS),
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
    assert verdict(pods) is found


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
