"""Which watches an event is offered to."""

from __future__ import annotations

import threading
import tracemalloc

import pytest
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.object_table import by_field
from hyperkube_lib.watch_cache.watchers import (
    ADDED,
    DELETED,
    MODIFIED,
    CacheEvent,
    CacheWatch,
    Scope,
    Transitions,
    WatcherTable,
)

from hyperkube.machinery.clock import FakeClock

NODE = "spec.nodeName"


def pod(name="web", namespace="default", node=""):
    return CachedObject(f"/pods/{namespace}/{name}", 5, b"{}", namespace=namespace, fields={NODE: node})


@pytest.fixture
def table():
    return WatcherTable({NODE: by_field(NODE)})


def watch(table, scope, accepts=None):
    made = CacheWatch(scope, accepts, clock=FakeClock(), position=lambda: 0, forget=table.remove)
    table.add(made)
    return made


SCOPES = {
    "all": Scope(),
    "namespace": Scope("default"),
    "name": Scope("", "web"),
    "both": Scope("default", "web"),
    "node": Scope(indexed=(NODE, "one")),
    "node and name": Scope("", "web", (NODE, "one")),
    "node, name and namespace": Scope("default", "web", (NODE, "one")),
    "another namespace": Scope("other"),
    "another name": Scope("default", "db"),
    "another node": Scope(indexed=(NODE, "two")),
}


@pytest.mark.parametrize(
    ("obj", "wanted"),
    [
        (pod(), {"all", "namespace", "name", "both"}),
        (pod(node="one"), {"all", "namespace", "name", "both", "node", "node and name", "node, name and namespace"}),
        (pod("db"), {"all", "namespace", "another name"}),
        (pod(namespace="other", node="two"), {"all", "name", "another namespace", "another node"}),
        (pod(namespace=""), {"all", "name"}),
    ],
    ids=["unbound", "bound", "another name", "another namespace and node", "cluster-scoped"],
)
def test_an_event_is_offered_to_each_watch_that_covers_it_once(table, obj, wanted):
    watches = {name: watch(table, scope) for name, scope in SCOPES.items()}

    table.dispatch(CacheEvent(ADDED, 5, obj))

    assert {name: len(each.drain()) for name, each in watches.items()} == {name: int(name in wanted) for name in SCOPES}


def test_watches_of_the_value_before_and_after_see_a_change_of_it(table):
    seen = {
        node: watch(table, Scope(indexed=(NODE, node)), lambda obj, node=node: obj.fields[NODE] == node)
        for node in ("one", "two")
    }

    table.dispatch(CacheEvent(MODIFIED, 6, pod(node="two"), pod(node="one")))

    assert {node: [record.kind for record in each.drain()] for node, each in seen.items()} == {
        "one": [DELETED],
        "two": [ADDED],
    }


def test_a_closed_watch_is_forgotten_with_what_only_it_asked_for(table):
    gone, stays = watch(table, Scope(indexed=(NODE, "one"))), watch(table, Scope(indexed=(NODE, "one")))
    gone.close()
    table.dispatch(CacheEvent(ADDED, 5, pod(node="one")))
    offered = len(stays.drain())
    stays.close()

    assert offered == 1
    assert len(table) == 0
    assert table._scopes(pod(node="one"), None) == []


def test_a_table_that_was_cleared_offers_nothing(table):
    watch(table, Scope("default"))

    assert len(table.clear()) == 1
    assert table._scopes(pod(), None) == []


class TestDraining:
    @pytest.fixture
    def notified(self):
        return []

    @pytest.fixture
    def watch(self, table, notified):
        made = CacheWatch(
            Scope(), None, clock=FakeClock(), position=lambda: 0, forget=table.remove, notify=notified.append
        )
        table.add(made)
        return made

    @pytest.mark.parametrize(("arms", "times"), [(False, 1), (True, 2)], ids=["by an empty answer", "by any answer"])
    def test_what_arms_a_watch_again(self, table, watch, notified, arms, times):
        table.dispatch(CacheEvent(ADDED, 5, pod()))
        watch.drain(arms=arms)
        table.dispatch(CacheEvent(ADDED, 6, pod()))

        assert len(notified) == times
        assert len(watch.drain()) == 1

    def test_a_watch_of_which_not_all_was_drained_is_not_armed(self, table, watch, notified):
        for revision in (5, 6, 7):
            table.dispatch(CacheEvent(ADDED, revision, pod()))
        records = watch.drain(2, arms=True)
        table.dispatch(CacheEvent(ADDED, 8, pod()))

        assert (len(records), watch.is_drained, len(notified)) == (2, False, 1)
        assert [record.revision for record in watch.drain(arms=True)] == [7, 8]
        assert watch.is_drained


def test_events_stay_in_their_order_while_more_are_added(table):
    count, drained = 20_000, []
    made = CacheWatch(Scope(), None, clock=FakeClock(), position=lambda: 0, forget=table.remove, capacity=count)

    def offer():
        for revision in range(1, count + 1):
            made.offer(Transitions(CacheEvent(ADDED, revision, pod())))

    writer = threading.Thread(target=offer)
    writer.start()
    while len(drained) < count:
        drained += (record.revision for record in made.drain(3))
    writer.join()

    assert drained == list(range(1, count + 1))


def test_a_watch_that_rests_has_no_room_for_events():
    def resting():
        return CacheWatch(Scope(), None, clock=clock, position=int, forget=print, notify=print)

    clock = FakeClock()
    resting()
    tracemalloc.start()
    try:
        watches = [resting() for _ in range(100)]
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert size / len(watches) < 500
