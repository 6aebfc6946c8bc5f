"""A gang's pods: who waits, who lets them go, who makes them give up."""

import pytest
from hyperkube_scheduler.gang_scheduling import NOT_ALL, TOO_FEW, GangScheduling, min_count

from hyperkube.plugin import PluginContext
from hyperkube.testing.scheduling import pod_info, table


class Hand:
    """Notes what is done with other pods."""

    def __init__(self):
        self.done = []

    def allow(self, key):
        self.done.append(("allow", key))

    def reject(self, key, reason):
        self.done.append(("reject", key, reason))

    def activate(self, key):
        self.done.append(("activate", key))


class Groups:
    """One gang of three."""

    def get(self, namespace, name):
        return {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}} if (namespace, name) == ("ns", "g") else None


def pod(name, group="g"):
    spec = {"containers": [{"name": "c"}], "schedulingGroup": {"podGroupName": group}}
    return {"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": spec}


@pytest.fixture
def gang():
    plugin = GangScheduling(PluginContext(name="GangScheduling", settings={"permitTimeoutSeconds": 7}))
    plugin._groups, plugin.hand = Groups(), Hand()
    plugin.take_in_hand(plugin.hand)
    return plugin


def seat(plugin, name):
    info = pod_info(pod(name), table({"name": "n"}))
    assert plugin.reserve(info, "n") == ""
    return info, plugin.permit(info, "n")


def test_pods_are_held_back_until_the_gang_is_there(gang):
    held = [gang.pre_enqueue(pod("a"))]
    gang._pod(pod("a"))
    held.append(gang.pre_enqueue(pod("b")))
    gang._pod(pod("b"))
    complete = gang.pre_enqueue(pod("c"))

    assert held == [TOO_FEW, TOO_FEW]
    assert complete == ""
    assert (
        gang.pre_enqueue(pod("d", "unknown")) == 'waiting for pod\'s pod group "unknown" to appear in scheduling queue'
    )
    assert gang.pre_enqueue({"metadata": {"name": "x"}, "spec": {}}) == ""


def test_the_last_one_lets_the_others_go(gang):
    for name in "abc":
        gang._pod(pod(name))

    first, second, last = [seat(gang, name)[1] for name in "abc"]

    assert (first.allowed, first.wait_seconds, second.allowed, last.allowed) == (False, 7.0, False, True)
    assert gang.hand.done[:2] == [("activate", "ns/b"), ("activate", "ns/c")]
    assert gang.hand.done[-2:] == [("allow", "ns/a"), ("allow", "ns/b")]


def test_one_that_fits_nowhere_makes_the_others_give_up(gang):
    for name in "abc":
        gang._pod(pod(name))
    seat(gang, "a")
    late = pod_info(pod("b"), table({"name": "n"}))

    outcome = gang.post_filter(late, table({"name": "n"}), {}, None)()

    assert outcome.node is None
    assert gang.hand.done[-1] == ("reject", "ns/a", NOT_ALL)


def test_a_gang_that_is_placed_is_not_given_up_for_one_more(gang):
    for name in "abcd":
        gang._pod(pod(name))
    for name in "abc":
        seat(gang, name)
    gang.hand.done.clear()

    gang.post_filter(pod_info(pod("d"), table({"name": "n"})), table({"name": "n"}), {}, None)()

    assert gang.hand.done == []


def test_what_was_given_back_does_not_count(gang):
    for name in "abc":
        gang._pod(pod(name))
    info, _ = seat(gang, "a")
    gang.unreserve(info, "n")

    answers = [seat(gang, name)[1].allowed for name in "bc"]

    assert answers == [False, False]


@pytest.mark.parametrize(
    ("policy", "count"), [({"gang": {"minCount": 4}}, 4), ({"basic": {}}, 1), ({}, 1)], ids=["gang", "basic", "none"]
)
def test_only_a_gang_has_a_size(policy, count):
    assert min_count({"spec": {"schedulingPolicy": policy}}) == count
