"""A cache that begins with what another one had, of whose store its own is a fork."""

import orjson
import pytest
from hyperkube_lib.watch_cache import watch_cache
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.object_table import by_owner
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Delete, Put

PODS = "/registry/pods/"


class CountingStore(MemoryStore):
    """Notes the ranges that are read."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.ranges = []

    def range(self, start, end, **options):
        self.ranges.append(start)
        return super().range(start, end, **options)


def counting_fork(store):
    fork = CountingStore()
    fork._begin_as(store)
    return fork


def put(store, name):
    pod = {"kind": "Pod", "metadata": {"name": name, "namespace": "default"}}
    return store.txn([], [Put(f"{PODS}default/{name}", orjson.dumps(pod))]).revision


def names(cache):
    return [obj.name for obj in cache.list().objects]


@pytest.fixture
def seed():
    store = MemoryStore()
    cache = StoreCache(store, SystemClock())
    cache.start()
    for name in "abc":
        put(store, name)
    pods = cache.resource(PODS, read_object(), indexes={"owner": by_owner})
    assert names(pods) == ["a", "b", "c"]
    yield store, cache
    cache.close()
    store.close()


@pytest.fixture
def began(seed):
    """Return what makes a fork's cache, started with the seed's state, and the fork."""
    caches = []

    def make(state=None):
        store, cache = seed
        fork = counting_fork(store)
        caches.append(StoreCache(fork, SystemClock(), state=state or cache.state()))
        caches[-1].start()
        return fork, caches[-1]

    yield make
    for cache in caches:
        cache.close()
        cache.store.close()


def pods_of(cache, **options):
    return cache.resource(PODS, read_object(), indexes={"owner": by_owner}, **options)


def test_nothing_is_read_again(began):
    fork, cache = began()

    assert names(pods_of(cache)) == ["a", "b", "c"]
    assert fork.ranges == []


def test_changes_before_the_first_read_are_seen(began):
    fork, cache = began()

    put(fork, "d")
    fork.txn([], [Delete(f"{PODS}default/a")])

    assert names(pods_of(cache)) == ["b", "c", "d"]
    assert fork.ranges == []


def test_neither_cache_changes_the_other(seed, began):
    store, cache = seed
    fork, other = began()
    pods = pods_of(other)

    put(fork, "fork")
    put(store, "seed")

    assert names(pods) == ["a", "b", "c", "fork"]
    assert names(cache._resources[PODS]) == ["a", "b", "c", "seed"]


def test_a_watch_from_before_the_fork_gets_what_it_missed(seed, began):
    store, _cache = seed
    before = store.revision()
    put(store, "d")
    fork, other = began()
    put(fork, "e")

    watch = pods_of(other).watch(resource_version=before)

    assert [(record.kind, record.object.name) for record in watch.drain()] == [("ADDED", "d"), ("ADDED", "e")]


def test_after_very_many_changes_the_store_is_read(began, monkeypatch):
    monkeypatch.setattr(watch_cache, "MOST_INHERITED_CHANGES", 5)
    fork, cache = began()

    for number in range(7):
        put(fork, f"n{number}")

    assert names(pods_of(cache)) == ["a", "b", "c", *(f"n{number}" for number in range(7))]
    assert fork.ranges == [PODS]


def test_a_state_of_another_revision_is_not_used(seed, began):
    store, cache = seed
    state = cache.state()
    put(store, "later")

    fork, other = began(state)

    assert names(pods_of(other)) == ["a", "b", "c", "later"]
    assert fork.ranges == [PODS]


def test_objects_that_are_indexed_otherwise_are_read_anew(began):
    fork, cache = began()

    pods = cache.resource(PODS, read_object(), indexes={"owner": by_owner, "other": by_owner})

    assert names(pods) == ["a", "b", "c"]
    assert fork.ranges == [PODS]
