"""Assumptions hold until the API speaks, and old news does not undo them."""

import pytest

pytest.importorskip("numpy")

from hyperkube_host.scheduler.cache.cache import EXPIRY_SECONDS, ClusterState
from hyperkube_host.scheduler.cache.pod_info import QueuedPod
from hyperkube_testing.scheduling.tables import node


def pod(name="web", node_name="", uid="1", **status):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    if node_name:
        spec["nodeName"] = node_name
    return {"metadata": {"name": name, "namespace": "default", "uid": uid}, "spec": spec, "status": status}


def world(*names):
    state = ClusterState()
    for name in names:
        state.node(node(name))
    return state, state.table()


def used(table, name):
    return int(table.requested[0, table.index_of(name)])


def test_an_assumed_pod_counts_and_old_news_does_not_undo_it():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")

    still_placed = state.pod(pod(phase="Pending"))

    assert still_placed
    assert used(table, "a") == 1000


def test_a_failed_binding_gives_back():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")

    state.forget(pod())

    assert used(table, "a") == 0


def test_a_failure_after_the_news_of_success_takes_nothing_back():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")
    state.pod(pod(node_name="a"))

    state.forget(pod())

    assert used(table, "a") == 1000


def test_somebody_elses_binding_wins():
    state, table = world("a", "b")
    state.assume(QueuedPod.of(pod(), table), "a")

    state.pod(pod(node_name="b"))

    assert (used(table, "a"), used(table, "b")) == (0, 1000)


def test_a_deleted_pod_counts_no_more_and_its_successor_is_another_one():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")

    state.pod_gone(pod())
    placed = state.pod(pod(uid="2"))

    assert not placed
    assert used(table, "a") == 0


def test_an_ended_pod_counts_no_more():
    state, table = world("a")
    state.pod(pod(node_name="a"))

    state.pod(pod(node_name="a", phase="Succeeded"))

    assert used(table, "a") == 0


def test_what_was_seen_before_the_first_pod_is_in_the_table():
    state = ClusterState()
    state.pod(pod(node_name="a"))
    state.node(node("a"))
    state.node(node("gone"))
    state.node_gone("gone")

    table = state.table()

    assert table.names == ["a"]
    assert used(table, "a") == 1000


def test_an_assumption_expires_when_the_api_never_speaks_of_the_binding():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")
    unconfirmed = state.expire(1e9)

    state.confirm(pod(), 100.0)
    early = state.expire(100.0 + EXPIRY_SECONDS - 1)
    late = state.expire(100.0 + EXPIRY_SECONDS)

    assert (unconfirmed, early, late) == ([], [], ["default/web"])
    assert used(table, "a") == 0


def test_news_of_the_binding_ends_the_assumption():
    state, table = world("a")
    state.assume(QueuedPod.of(pod(), table), "a")
    state.confirm(pod(), 100.0)

    state.pod(pod(node_name="a"))

    assert state.expire(1e9) == []
    assert used(table, "a") == 1000


def test_nominated_pods_are_guests_of_their_node():
    state, table = world("a")
    state.nominate(pod("guest"), "a", 5)

    with state.guests("default/web", 5) as any_there:
        while_there = used(table, "a")
    with state.guests("default/web", 6) as none_there:
        less_important = used(table, "a")
    with state.guests("default/guest", 0) as itself:
        alone = used(table, "a")

    assert (any_there, while_there, used(table, "a")) == (True, 1000, 0)
    assert (none_there, less_important, itself, alone) == (False, 0, False, 0)


def test_a_more_important_pod_ends_the_nominations_for_its_node():
    state, _ = world("a", "b")
    for name, where, priority in (("low", "a", 1), ("equal", "a", 5), ("elsewhere", "b", 1)):
        state.nominate(pod(name), where, priority)

    dropped = state.outrank("default/high", "a", 5)

    assert [each.pod["metadata"]["name"] for each in dropped] == ["low"]
    assert state.nominated_node("default/low") is None
    assert state.nominated_node("default/equal") == "a"


def test_a_nomination_outlives_a_restart():
    state, _ = world("a")
    state.adopt(pod("web", nominatedNodeName="a"), 3)
    state.adopt(pod("other"), 3)

    assert state.nominated_node("default/web") == "a"
    assert state.nominated_node("default/other") is None
