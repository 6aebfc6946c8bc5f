"""A gang's pods: who waits, and who lets them go.

Cases: kubernetes ``gangscheduling/gangscheduling_test.go`` (TestGangSchedulingFlow).
"""

import pytest
from hyperkube_scheduler.gang_scheduling import TOO_FEW, TOO_FEW_PLACED, GangScheduling, min_count
from hyperkube_testing.scheduling.tables import pod_info, table

from hyperkube.plugin import PluginContext


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
    plugin.set_handle(plugin.hand)
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
        gang.pre_enqueue(pod("d", "unknown")) == 'waiting for pods\'s pod group "unknown" to appear in scheduling queue'
    )
    assert gang.pre_enqueue({"metadata": {"name": "x"}, "spec": {}}) == ""


def test_the_last_one_lets_the_others_go(gang):
    for name in "abc":
        gang._pod(pod(name))

    first, second, last = [seat(gang, name)[1] for name in "abc"]

    assert (first.allowed, first.wait_seconds, second.allowed, last.allowed) == (False, 7.0, False, True)
    assert first.reason == TOO_FEW_PLACED
    assert gang.hand.done[:2] == [("activate", "ns/b"), ("activate", "ns/c")]
    assert gang.hand.done[-2:] == [("allow", "ns/a"), ("allow", "ns/b")]


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


def test_pods_of_other_gangs_do_not_count(gang):
    """Only two of the gang's three are there, whoever else is."""
    for name in ("a", "b"):
        gang._pod(pod(name))
    for name in ("x", "y"):
        gang._pod(pod(name, "other"))

    assert gang.pre_enqueue(pod("a")) == TOO_FEW


def test_a_pod_without_a_gang_is_let_go_at_once(gang):
    alone = pod_info({"metadata": {"name": "alone", "namespace": "ns"}, "spec": {"containers": []}}, table())

    assert gang.permit(alone, "n").allowed
    assert gang.hand.done == []


def test_a_pod_that_is_bound_counts_as_placed(gang):
    for name in ("a", "b"):
        bound = pod(name)
        bound["spec"]["nodeName"] = "n"
        gang._pod(bound)

    assert seat(gang, "c")[1].allowed
