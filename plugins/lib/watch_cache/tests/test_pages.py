"""Pages of a resource: the same however they are cut, now and in the past, and no dearer for what is beside them."""

import random

import orjson
import pytest
from hyperkube_lib.watch_cache import listing
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.object_table import ObjectTable, by_field
from hyperkube_lib.watch_cache.watch_cache import StoreCache

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Delete, Put

INDEXES = {"spec.nodeName": by_field("spec.nodeName")}


def fields(obj):
    return {"spec.nodeName": obj["spec"]["nodeName"]}


@pytest.fixture
def store():
    store = MemoryStore()
    yield store
    store.close()


def pods_of(store, events=1000):
    cache = StoreCache(store, FakeClock())
    cache.start()
    limits = HistoryLimits(events=events, seconds=0, size=0)
    return cache.resource("/registry/pods/", read_object(fields), indexes=INDEXES, limits=limits)


def put(store, number, node="n1"):
    name, namespace = f"p{number:03}", f"ns{number % 3}"
    pod = {"kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": {"nodeName": node}}
    store.txn([], [Put(f"/registry/pods/{namespace}/{name}", orjson.dumps(pod))])


def delete(store, number):
    store.txn([], [Delete(f"/registry/pods/ns{number % 3}/p{number:03}")])


def pages(pods, limit, **options):
    """Return the bodies of all pages at the revision of the first, and what each page said is left."""
    found = pods.list(limit=limit, **options)
    bodies, left = [obj.body for obj in found.objects], [found.remaining]
    while found.next_start:
        options |= {"resource_version": found.revision, "exact": True}
        found = pods.list(limit=limit, start=found.next_start, **options)
        bodies += [obj.body for obj in found.objects]
        left.append(found.remaining)
    return bodies, left


def churn(store, dice, steps):
    for _ in range(steps):
        number = dice.randrange(60)
        if dice.random() < 0.5:
            put(store, number, dice.choice(["n1", "n2"]))
        else:
            delete(store, number)


@pytest.mark.parametrize("events", [1000, 3], ids=["in the cache's history", "from the store"])
@pytest.mark.parametrize("seed", range(6))
def test_pages_of_the_past_are_the_list_of_the_past(store, seed, events, monkeypatch):
    monkeypatch.setattr(listing, "LOOKED_AT", 4)
    dice, pods = random.Random(seed), pods_of(store, events)
    churn(store, dice, 80)
    before = pods.list()
    churn(store, dice, 30)
    at = {"resource_version": before.revision, "exact": True}

    for limit in (1, 4, 7, 100):
        bodies, left = pages(pods, limit, **at)
        assert bodies == [obj.body for obj in before.objects]
        assert left == [max(len(bodies) - limit * (page + 1), 0) or None for page in range(len(left))]
        on_n2, _ = pages(pods, limit, matches=lambda obj: obj.fields["spec.nodeName"] == "n2", **at)
        assert on_n2 == [obj.body for obj in before.objects if obj.fields["spec.nodeName"] == "n2"]
        by_index, _ = pages(pods, limit, index=("spec.nodeName", "n2"), **at)
        assert by_index == on_n2


@pytest.mark.parametrize("limit", [1, 5, 12, 13])
def test_pages_of_now_are_the_list_of_now(store, limit):
    for number in range(12):
        put(store, number, f"n{number % 2}")
    pods = pods_of(store)
    whole = [obj.body for obj in pods.list().objects]

    assert pages(pods, limit)[0] == whole
    assert pages(pods, limit, namespace="ns1")[0] == [obj.body for obj in pods.list(namespace="ns1").objects]
    assert pages(pods, limit, index=("spec.nodeName", "n1"))[0] == [
        obj.body for obj in pods.list(index=("spec.nodeName", "n1")).objects
    ]


def test_a_predicate_sees_one_state_though_it_changes_while_it_is_asked(store, monkeypatch):
    monkeypatch.setattr(listing, "LOOKED_AT", 2)
    for number in range(9):
        put(store, number, "n2")
    pods = pods_of(store)
    before = [obj.name for obj in pods.list().objects]

    def matches(_obj):
        for number in (8, 20, 23):  # one goes that is still to come, and others come
            delete(store, number) if number == 8 else put(store, number)
        return True

    found = pods.list(limit=50, matches=matches)

    assert [obj.name for obj in found.objects] == before


@pytest.mark.parametrize("matches", [None, lambda _obj: True], ids=["all", "a predicate"])
def test_a_page_looks_at_no_more_than_it_needs(store, matches, monkeypatch):
    monkeypatch.setattr(listing, "LOOKED_AT", 10)
    for number in range(60):
        put(store, number)
    pods = pods_of(store)
    pods.list(limit=1)
    asked = []
    between = ObjectTable.between

    def counting(self, *args):
        found = between(self, *args)
        asked.append(len(found))
        return found

    monkeypatch.setattr(ObjectTable, "between", counting)

    assert len(pods.list(limit=5, matches=matches).objects) == 5
    assert sum(asked) <= 10
