"""As few and as unimportant pods as can be make room, budgets permitting."""

from typing import ClassVar

import numpy as np
import pytest
from hyperkube_scheduler.default_preemption import DefaultPreemption, by_budget, victims_on
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.scheduling import Filtered, PostFilterResult
from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import PluginContext


def pod(name, priority, cpu=1, labels=None, **spec):
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    meta = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"priority": priority, "containers": [container], **spec},
        "status": {"startTime": f"2030-01-01T00:00:{len(name):02}Z"},
    }


class Room:
    """A trial in which a pod fits if its cpu does."""

    def __init__(self, nodes, wanted):
        self.nodes, self.wanted = nodes, wanted

    def remove(self, index, each):
        self.nodes.remove_pod(f"default/{each['metadata']['name']}", self.nodes.names[index])

    def put_back(self, index, each):
        self.nodes.put_pod(each, self.nodes.names[index])

    def fits(self, index):
        return self.nodes.requested[0, index] + self.wanted * 1000 <= self.nodes.allocatable[0, index]

    def why_not(self, index):
        return ["Insufficient cpu"]

    def restore(self):
        """Nothing is left over."""

    def review(self, choices):
        return choices


def full(**placed):
    nodes = table(*({"name": name, "cpu": "4"} for name in placed))
    for name, pods in placed.items():
        for each in pods:
            nodes.put_pod(each, name)
    return nodes


def attempt(nodes, new, client=None):
    wanted = int(new["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    mask = np.zeros(len(nodes), dtype=bool)
    refused = {"NodeResourcesFit": Filtered(mask, {"Insufficient cpu": ~mask}, np.zeros(len(nodes), dtype=bool))}
    plugin = DefaultPreemption(PluginContext(name="DefaultPreemption", client=client))
    answer = plugin.post_filter(pod_info(new, nodes), nodes, refused, Room(nodes, wanted))
    return answer() if callable(answer) else answer


def test_the_least_important_victims_are_chosen_and_deleted():
    a, b = [pod("a1", 5, 4)], [pod("b1", 1, 2), pod("b2", 9, 2)]
    client = FakeClient()
    for each in (*a, *b):
        client.create(PODS, each)
    nodes = full(a=a, b=b)

    nomination = attempt(nodes, pod("new", 10, 2), client)

    assert nomination == PostFilterResult("b", victims=1)
    assert ("delete", "pods", "default/b1") in client.actions
    assert [action for action in client.actions if action[0] == "delete"] == [("delete", "pods", "default/b1")]


def test_all_preemptions_of_a_scheduler_have_one_recorder_so_that_equal_events_are_counted():
    client, clock = FakeClient(), SystemClock()
    plugin = DefaultPreemption(PluginContext(name="DefaultPreemption", client=client, clock=clock))
    new, victim = pod("new", 10), pod("old", 1)
    for _ in range(2):
        client.create(PODS, victim)
        plugin.evict(new, "n1", [victim])
    assert plugin._recorder("default-scheduler").flush(30)

    assert [(event["reason"], event["count"]) for event in client.objects(EVENTS)] == [("Preempted", 2)]
    clock.close()


def test_equals_are_not_preempted():
    nomination = attempt(full(a=[pod("a1", 10, 4)]), pod("new", 10, 2))

    expected = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    assert nomination == PostFilterResult(None, expected)


def test_what_does_not_help_is_said():
    nomination = attempt(full(a=[pod("a1", 1, 2), pod("a2", 20, 2)]), pod("new", 10, 4))

    assert nomination == PostFilterResult(None, "preemption: 0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_may_decline_to_preempt():
    nomination = attempt(full(a=[pod("a1", 1, 4)]), pod("new", 10, 2, preemptionPolicy="Never"))

    assert nomination == PostFilterResult(None, "preemption: not eligible due to preemptionPolicy=Never.", noop=True)


def test_important_pods_are_spared_first():
    nodes = full(a=[pod("low", 1, 2), pod("middle", 5, 2)])

    candidate = victims_on(0, nodes.pods(0), [], Room(nodes, 2))

    assert [each["metadata"]["name"] for each in candidate.victims] == ["low"]
    assert nodes.requested[0, 0] == 4000, "the trial leaves no trace"


def test_a_budget_that_is_used_up_counts_as_a_violation():
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1},
    }
    pods = [pod("one", 1, labels={"app": "web"}), pod("two", 1, labels={"app": "web"}), pod("three", 1)]

    violating, others = by_budget(pods, [budget])

    assert [each["metadata"]["name"] for each in violating] == ["two"]
    assert [each["metadata"]["name"] for each in others] == ["one", "three"]


def test_it_offers_itself():
    plugin = DefaultPreemption(PluginContext(name="DefaultPreemption"))

    assert plugin in plugin.scheduling_plugins()


class Reviewed(Room):
    """A trial whose reviewer strikes nodes out."""

    agreed: ClassVar[set] = set()

    def review(self, choices):
        return {name: victims for name, victims in choices.items() if name in self.agreed}


class Hand:
    """Refuses pods that wait."""

    def __init__(self, *waiting):
        self.waiting, self.rejected = waiting, []

    def reject(self, key, reason):
        self.rejected.append((key, reason))
        return key in self.waiting


def choose(nodes, dry_run, client=None, hand=None):
    mask = np.zeros(len(nodes), dtype=bool)
    refused = {"NodeResourcesFit": Filtered(mask, {"Insufficient cpu": ~mask}, mask.copy())}
    plugin = DefaultPreemption(PluginContext(name="DefaultPreemption", client=client, clock=FakeClock()))
    if hand is not None:
        plugin.set_handle(hand)
    answer = plugin.post_filter(pod_info(pod("new", 10, 4), nodes), nodes, refused, dry_run)
    return answer() if callable(answer) else answer


def test_a_reviewer_strikes_nodes_out():
    nodes = full(cheap=[pod("a", 1, 4)], dear=[pod("b", 5, 4)])
    client = FakeClient()
    for index in (0, 1):
        client.create(PODS, nodes.pods(index)[0])
    dry_run = Reviewed(nodes, 4)

    nowhere = choose(nodes, dry_run, client)
    dry_run.agreed = {"dear"}
    there = choose(nodes, dry_run, client)

    assert (nowhere.node, there.node) == (None, "dear")
    assert [each["metadata"]["name"] for each in client.list(PODS, "default").items] == ["a"]


def test_a_victim_that_waits_to_be_bound_is_refused_not_deleted():
    nodes = full(a=[pod("waiting", 1, 4)])
    client, hand = FakeClient(), Hand("default/waiting")
    client.create(PODS, nodes.pods(0)[0])

    nomination = choose(nodes, Room(nodes, 4), client, hand)

    assert nomination.node == "a"
    assert hand.rejected == [("default/waiting", "preempted")]
    assert len(client.list(PODS, "default").items) == 1


@pytest.mark.parametrize(
    ("percentage", "absolute", "message"),
    [
        (-1, 100, "minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]"),
        (101, 100, "minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"),
        (10, -1, "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"),
        (
            0,
            0,
            "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute",
        ),
    ],
)
def test_a_number_of_candidates_that_cannot_be_is_refused(percentage, absolute, message):
    settings = {"minCandidateNodesPercentage": percentage, "minCandidateNodesAbsolute": absolute}

    with pytest.raises(UsageError) as refused:
        DefaultPreemption(PluginContext(name="DefaultPreemption", settings=settings))

    assert str(refused.value) == message


@pytest.mark.parametrize(("percentage", "absolute"), [(0, 1), (100, 0)])
def test_one_of_the_numbers_of_candidates_may_be_none(percentage, absolute):
    settings = {"minCandidateNodesPercentage": percentage, "minCandidateNodesAbsolute": absolute}

    made = DefaultPreemption(PluginContext(name="DefaultPreemption", settings=settings))

    assert made.context.settings == settings
