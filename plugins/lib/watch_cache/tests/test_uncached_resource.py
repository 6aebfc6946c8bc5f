"""Events stay in the store: what is in memory of them are their watches. `test_watch_cache` holds what clients see."""

from __future__ import annotations

import threading

import orjson
import pytest
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Expired, StorageReadError, Timeout
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Delete, EventBatch, KeyValue, Put, StoreEvent

PREFIX = "/registry/events/"


class Rig:
    """Events in a store; `decoded` are the names of those that were decoded."""

    def __init__(self, limits=None, store=None):
        self.store, self.decoded, self.lost = store or MemoryStore(), [], []
        self.clock = FakeClock()
        self.caches = StoreCache(
            self.store, self.clock, report_damaged=lambda key, _error: self.lost.append(key), timeout=0.0
        )
        self.caches.start()
        read = read_object(lambda obj: {"reason": obj.get("reason", "")})

        def transform(key, value, revision):
            self.decoded.append(key.rpartition("/")[2])
            return read(key, value, revision)

        self.events = self.caches.resource(PREFIX, transform, limits=limits, expires=True)

    def put(self, name, reason="Started", namespace="default"):
        event = {"metadata": {"name": name, "namespace": namespace}, "reason": reason}
        return self.store.txn([], [Put(f"{PREFIX}{namespace}/{name}", orjson.dumps(event))]).revision

    def delete(self, name):
        return self.store.txn([], [Delete(f"{PREFIX}default/{name}")]).revision


def told(records):
    return [(record.kind, record.object.name, record.revision) for record in records]


def test_what_nobody_asks_for_is_not_decoded():
    rig = Rig()

    for number in range(3):
        rig.put(f"a{number}")
    rig.put("a0", "Killing")

    assert (rig.decoded, len(rig.events), rig.events.loaded) == ([], 0, False)
    assert rig.events.peek(f"{PREFIX}default/a0") is None


def test_a_page_reads_no_more_than_it_shows():
    rig = Rig()
    for number in range(9):
        rig.put(f"a{number}")

    page = rig.events.list(limit=3)

    assert (rig.decoded, page.remaining) == (["a0", "a1", "a2"], 6)


def test_a_watch_sees_what_it_begins_with_and_each_change_once():
    rig = Rig()
    first = rig.put("a")
    watch = rig.events.watch()
    second, third = rig.put("b"), rig.put("a", "Killing")
    last = rig.delete("a")

    records = watch.drain() + watch.drain()

    expected = [("ADDED", "a", first), ("ADDED", "b", second), ("MODIFIED", "a", third), ("DELETED", "a", last)]
    assert told(records) == expected
    assert orjson.loads(records[-1].object.body)["reason"] == "Killing"


def test_a_watch_goes_on_from_a_revision_by_the_history_of_the_store():
    rig = Rig()
    begin = rig.put("a")
    revisions = [rig.put("b"), rig.put("a", "Killing"), rig.delete("b")]

    watch = rig.events.watch(resource_version=begin)
    later = rig.put("c")

    expected = zip(["ADDED", "MODIFIED", "DELETED"], ["b", "a", "b"], revisions, strict=True)
    assert told(watch.drain() + watch.drain()) == [*expected, ("ADDED", "c", later)]


def test_a_watch_that_cannot_begin_leaves_nothing():
    rig = Rig()
    begin = rig.put("a")
    rig.store.compact(rig.put("b"))

    with pytest.raises(Expired):
        rig.events.watch(resource_version=begin)

    assert rig.events.watchers == 0


def test_a_selected_watch_sees_transitions():
    rig = Rig()
    watch = rig.events.watch(initial_events=False, matches=lambda obj: obj.fields["reason"] == "Failed")
    rig.put("a")
    revisions = [rig.put("a", "Failed"), rig.put("a", "Started")]

    assert told(watch.drain()) == [("ADDED", "a", revisions[0]), ("DELETED", "a", revisions[1])]


def test_what_is_watched_in_a_namespace_is_read_there_alone():
    rig = Rig()
    rig.put("a")
    rig.put("b", namespace="other")

    watch = rig.events.watch(namespace="other")

    assert [name for _, name, _ in told(watch.drain())] == ["b"]
    assert rig.decoded == ["b"]


def test_a_change_that_came_without_what_was_before_ends_the_watches():
    rig = Rig()
    watch = rig.events.watch(initial_events=False)
    key = f"{PREFIX}default/a"
    before = KeyValue(key, b"", 2, 2)

    rig.caches._deliver(EventBatch([StoreEvent(key, 3, None, before)], 3))

    assert (watch.ended, watch.error, watch.drain(), rig.events.watchers) == (True, None, [], 0)


def test_previous_values_are_wanted_only_while_somebody_watches():
    rig = Rig()
    key = f"{PREFIX}default/a"
    without = rig.caches._wants_previous(key)

    watch = rig.events.watch()
    watched, other = rig.caches._wants_previous(key), rig.caches._wants_previous("/registry/pods/default/a")
    watch.close()

    assert (without, watched, other) == (False, True, False)
    assert not rig.caches._wants_previous(key)


def names(result):
    return [obj.name for obj in result.objects]


def test_what_is_read_again_is_not_read_from_the_store():
    rig = Rig()
    for name in ("a", "b", "c"):
        rig.put(name)
    rig.events.list(namespace="default")
    rig.decoded.clear()

    again = rig.events.list(namespace="default", limit=2)
    one = rig.events.get("default", "c")

    assert (names(again), again.remaining, one.name, rig.decoded) == (["a", "b"], 1, "c", [])


def test_what_is_read_again_is_as_it_is_in_the_store():
    rig = Rig()
    rig.put("a")
    rig.put("c")
    rig.events.list(namespace="default")

    revision = rig.put("b")
    rig.put("c", "Killing")
    rig.delete("a")
    listed = rig.events.list(namespace="default")

    assert [(obj.name, obj.fields["reason"]) for obj in listed.objects] == [("b", "Started"), ("c", "Killing")]
    assert rig.events.peek(f"{PREFIX}default/b").revision == revision
    assert (rig.events.peek(f"{PREFIX}default/a"), rig.events.get("default", "a")) == (None, None)


def test_an_object_that_was_read_is_known_until_it_changes():
    rig = Rig()
    rig.put("a")
    key = f"{PREFIX}default/a"
    rig.events.get("default", "a")
    before = rig.events.peek(key)

    rig.put("a", "Killing")

    assert (before.name, rig.events.peek(key)) == ("a", None)
    assert rig.events.get("default", "a").fields["reason"] == "Killing"


def test_what_changes_while_it_is_read_is_not_kept():
    rig = Rig()
    rig.put("a")
    read = rig.store.get

    def changed_meanwhile(key, **options):
        found = read(key, **options)
        rig.put("a", "Killing")
        return found

    rig.store.get = changed_meanwhile
    rig.events.get("default", "a")

    assert rig.events.peek(f"{PREFIX}default/a") is None


def test_a_list_during_which_something_changes_is_not_kept():
    rig = Rig()
    rig.put("a")
    read = rig.store.range

    def changed_meanwhile(*args, **options):
        found = read(*args, **options)
        rig.put("b")
        return found

    rig.store.range = changed_meanwhile
    rig.events.list(namespace="default")
    rig.store.range = read

    assert names(rig.events.list(namespace="default")) == ["a", "b"]


def test_further_pages_are_those_of_the_first_ones_revision():
    rig = Rig()
    for name in ("a", "c", "e", "g"):
        rig.put(name)
    rig.events.list()
    first = rig.events.list(limit=2)
    rig.put("d")

    def follow():
        return rig.events.list(limit=2, start=first.next_start, resource_version=first.revision, exact=True)

    created = names(follow())
    rig.delete("e")

    assert (created, names(follow()), names(rig.events.list())) == (["e", "g"], ["e", "g"], ["a", "c", "d", "g"])


def test_what_is_left_out_for_its_text_counts_as_looked_at():
    rig = Rig()
    for name, reason in (("a", "Failed"), ("b", "Started"), ("c", "Failed"), ("d", "Started")):
        rig.put(name, reason)

    def page(limit):
        return rig.events.list(limit=limit, holds=b"Failed", matches=lambda obj: obj.fields["reason"] == "Failed")

    found = [page(limit) for limit in (1, 2, 3, 2)]

    assert [names(each) for each in found] == [["a"], ["a", "c"], ["a", "c"], ["a", "c"]]
    assert [bool(each.next_start) for each in found] == [True, True, False, True]


def test_what_is_not_read_any_more_is_forgotten():
    rig = Rig()
    rig.put("a")
    rig.events.list()

    rig.clock.advance(130)

    assert rig.events.peek(f"{PREFIX}default/a") is None


def test_a_resource_that_has_lost_something_keeps_nothing():
    store = Damaged()
    rig = Rig(store=store)
    rig.put("a")
    rig.put("b")
    store.lost = frozenset({f"{PREFIX}default/b"})
    rig.events.list()

    assert rig.events.peek(f"{PREFIX}default/a") is None


def test_a_store_that_does_not_call_its_readers_is_always_asked():
    class Remote:
        """What a store is over a network: it has no `subscribe`."""

        def __init__(self):
            self.store = MemoryStore()

        def __getattr__(self, name):
            if name == "subscribe":
                raise AttributeError(name)
            return getattr(self.store, name)

    rig = Rig(store=Remote())
    rig.put("a")
    rig.events.list()
    rig.events.get("default", "a")
    rig.caches.close()

    assert rig.events.peek(f"{PREFIX}default/a") is None


def test_a_revision_that_does_not_exist_yet_is_too_large():
    rig = Rig()
    revision = rig.put("a")

    with pytest.raises(Timeout, match=f"Too large resource version: {revision + 9}, current: {revision}"):
        rig.events.list(resource_version=revision + 9)


class Damaged(MemoryStore):
    """A store that has lost the values of some keys."""

    lost: frozenset[str] = frozenset()

    def range(self, *args, **options):
        found = super().range(*args, **options)
        items = [
            item._replace(value=b"", unreadable="gone", damaged=True) if item.key in self.lost else item
            for item in found.items
        ]
        return type(found)(items, found.revision, found.count, found.more)


def test_lists_go_on_without_what_the_store_has_lost_and_say_so():
    store = Damaged()
    rig = Rig(store=store)
    for name in ("a", "b"):
        rig.put(name)
    store.lost = frozenset({f"{PREFIX}default/a"})

    listed = [[obj.name for obj in rig.events.list().objects] for _ in range(2)]
    lost = list(rig.events.lost)
    rig.delete("a")

    assert (listed, lost, rig.lost) == ([["b"], ["b"]], [f"{PREFIX}default/a"], [f"{PREFIX}default/a"])
    assert list(rig.events.lost) == []


def test_an_object_that_cannot_be_decoded_is_refused():
    rig = Rig()
    rig.store.txn([], [Put(f"{PREFIX}default/a", b"no JSON")])

    with pytest.raises(StorageReadError):
        rig.events.get("default", "a")


@pytest.mark.parametrize(
    ("limits", "cached"),
    [
        pytest.param(None, False, id="what-expires-is-not-cached"),
        pytest.param(HistoryLimits(), False, id="nor-by-default"),
        pytest.param(HistoryLimits(events=50, is_all=True), True, id="but-on-demand"),
        pytest.param(HistoryLimits(events=0, is_all=True), False, id="a-size-of-0-caches-nothing"),
    ],
)
def test_what_is_cached(limits, cached):
    rig = Rig(limits)

    rig.events.list()

    assert rig.events.loaded is cached


def test_no_change_is_missed_while_watches_begin():
    rig = Rig()
    revisions: list[int] = []
    writer = threading.Thread(target=lambda: revisions.extend(rig.put(f"a{number % 7}") for number in range(300)))
    writer.start()
    watches = [rig.events.watch(resource_version=1) for _ in range(20)]
    writer.join()

    for watch in watches:
        seen = [record.revision for record in iter_all(watch)]
        assert seen == revisions


def iter_all(watch):
    while records := watch.drain():
        yield from records
