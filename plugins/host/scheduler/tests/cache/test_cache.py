"""Assumptions hold until the API speaks, and old news does not undo them."""

import pytest

pytest.importorskip("numpy")

from hyperkube_host.scheduler.cache.cache import EXPIRY_SECONDS, SchedulerCache
from hyperkube_host.scheduler.cache.pod_info import PreparedPod
from hyperkube_testing.scheduling.tables import node


def pod(name="web", node_name="", uid="1", **status):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    if node_name:
        spec["nodeName"] = node_name
    return {"metadata": {"name": name, "namespace": "default", "uid": uid}, "spec": spec, "status": status}


def world(*names):
    cache = SchedulerCache()
    for name in names:
        cache.put_node(node(name))
    return cache, cache.table()


def used(table, name):
    return int(table.requested[0, table.index_of(name)])


def test_an_assumed_pod_counts_and_old_news_does_not_undo_it():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")

    still_placed = cache.put_pod(pod(phase="Pending"))

    assert still_placed
    assert used(table, "a") == 1000


def test_a_failed_binding_gives_back():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")

    cache.forget(pod())

    assert used(table, "a") == 0


def test_a_failure_after_the_news_of_success_takes_nothing_back():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")
    cache.put_pod(pod(node_name="a"))

    cache.forget(pod())

    assert used(table, "a") == 1000


def test_somebody_elses_binding_wins():
    cache, table = world("a", "b")
    cache.assume(PreparedPod.of(pod(), table), "a")

    cache.put_pod(pod(node_name="b"))

    assert (used(table, "a"), used(table, "b")) == (0, 1000)


def test_a_deleted_pod_counts_no_more_and_its_successor_is_another_one():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")

    cache.remove_pod(pod())
    placed = cache.put_pod(pod(uid="2"))

    assert not placed
    assert used(table, "a") == 0


def test_an_ended_pod_counts_no_more():
    cache, table = world("a")
    cache.put_pod(pod(node_name="a"))

    cache.put_pod(pod(node_name="a", phase="Succeeded"))

    assert used(table, "a") == 0


def test_what_was_seen_before_the_first_pod_is_in_the_table():
    cache = SchedulerCache()
    cache.put_pod(pod(node_name="a"))
    cache.put_node(node("a"))
    cache.put_node(node("gone"))
    cache.remove_node("gone")

    table = cache.table()

    assert table.names == ["a"]
    assert used(table, "a") == 1000


def test_an_assumption_expires_when_the_api_never_speaks_of_the_binding():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")
    unconfirmed = cache.cleanup_assumed(1e9)

    cache.finish_binding(pod(), 100.0)
    early = cache.cleanup_assumed(100.0 + EXPIRY_SECONDS - 1)
    late = cache.cleanup_assumed(100.0 + EXPIRY_SECONDS)

    assert (unconfirmed, early, late) == ([], [], ["default/web"])
    assert used(table, "a") == 0


def test_news_of_the_binding_ends_the_assumption():
    cache, table = world("a")
    cache.assume(PreparedPod.of(pod(), table), "a")
    cache.finish_binding(pod(), 100.0)

    cache.put_pod(pod(node_name="a"))

    assert cache.cleanup_assumed(1e9) == []
    assert used(table, "a") == 1000


def test_nominated_pods_are_guests_of_their_node():
    cache, table = world("a")
    cache.nominate(pod("guest"), "a", 5)

    with cache.with_nominated_pods("default/web", 5) as any_there:
        while_there = used(table, "a")
    with cache.with_nominated_pods("default/web", 6) as none_there:
        less_important = used(table, "a")
    with cache.with_nominated_pods("default/guest", 0) as itself:
        alone = used(table, "a")

    assert (any_there, while_there, used(table, "a")) == (True, 1000, 0)
    assert (none_there, less_important, itself, alone) == (False, 0, False, 0)


def test_a_more_important_pod_ends_the_nominations_for_its_node():
    cache, _ = world("a", "b")
    for name, where, priority in (("low", "a", 1), ("equal", "a", 5), ("elsewhere", "b", 1)):
        cache.nominate(pod(name), where, priority)

    dropped = cache.remove_lower_nominations("default/high", "a", 5)

    assert [each.pod["metadata"]["name"] for each in dropped] == ["low"]
    assert cache.nominated_node("default/low") is None
    assert cache.nominated_node("default/equal") == "a"


def test_a_nomination_outlives_a_restart():
    cache, _ = world("a")
    cache.nominate_from_status(pod("web", nominatedNodeName="a"), 3)
    cache.nominate_from_status(pod("other"), 3)

    assert cache.nominated_node("default/web") == "a"
    assert cache.nominated_node("default/other") is None
