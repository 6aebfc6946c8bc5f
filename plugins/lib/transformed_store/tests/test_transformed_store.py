import pytest
from hyperkube_lib.transformed_store import Transformers, transformed
from hyperkube_lib.watch_cache.cached_object import read_object
from hyperkube_lib.watch_cache.watch_cache import StoreCache
from hyperkube_testing.storage.other_process import OtherProcess
from hyperkube_testing.storage.store import StoreContract

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import StorageReadError
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import Compare, Delete, Put, QueuesWrites
from hyperkube.storage.subscriptions import Subscribable


class Reversed:
    """Stores values backwards, with a letter in front that tells old forms from new ones."""

    def __init__(self, letter=b"n"):
        self.letter = letter

    def transform_from_storage(self, key, stored):
        if stored[:1] not in {b"o", b"n"}:
            raise Unreadable("no matching prefix found")
        return stored[:0:-1], stored[:1] != self.letter

    def transform_to_storage(self, key, value):
        return self.letter + value[::-1]


@pytest.fixture
def inner():
    return MemoryStore(FakeClock())


@pytest.fixture
def store(inner):
    return transformed(inner, Reversed())


class TestContract(StoreContract):
    """What holds for a store holds for the same store with another form of its values."""

    @pytest.fixture
    def clock(self):
        return FakeClock()

    @pytest.fixture
    def pass_time(self, clock):
        return clock.advance

    @pytest.fixture
    def open_store(self, clock):
        return lambda: transformed(MemoryStore(clock), Reversed())


def test_values_are_transformed_in_the_store_and_back_for_readers(store, inner):
    watch = iter(store.watch("/a", "/b", revision=store.revision()))

    store.txn([], [Put("/a/x", b"abc")])

    assert inner.get("/a/x").value == b"ncba"
    assert store.get("/a/x").value == b"abc"
    assert [item.value for item in store.range("/a", "/b").items] == [b"abc"]
    assert store.txn([Compare("/a/x", 0)], []).current[0].value == b"abc"
    store.txn([], [Delete("/a/x")])
    first, second = next(watch).events + next(watch).events
    assert (first.current.value, second.previous.value) == (b"abc", b"abc")


def test_an_old_form_is_stale(store, inner):
    transformed(inner, Reversed(b"o")).txn([], [Put("/a/x", b"abc")])

    item = store.get("/a/x")

    assert (item.value, item.stale) == (b"abc", True)


def test_forms_lie_around_one_another(inner):
    store = transformed(inner, Transformers([Reversed(), Reversed(b"o")]))

    store.txn([], [Put("/a/x", b"abc")])

    assert inner.get("/a/x").value == b"nabco"
    assert (store.get("/a/x").value, store.get("/a/x").stale) == (b"abc", False)


def test_an_unreadable_value_spoils_nothing_but_itself(store, inner):
    cache = StoreCache(store, FakeClock(), prefix="/registry/")
    cache.start()
    maps = cache.resource("/registry/maps/", read_object())
    store.txn([], [Put("/registry/maps/d/good", b'{"metadata":{"name":"good","namespace":"d"}}')])
    inner.txn([], [Put("/registry/maps/d/bad", b"???")])

    assert maps.get("d", "good").name == "good"
    with pytest.raises(StorageReadError, match='unable to transform key "/registry/maps/d/bad": no matching prefix'):
        maps.get("d", "bad")
    with pytest.raises(StorageReadError):
        maps.list()
    cache.close()


def test_a_store_that_calls_its_readers_still_does(store, inner):
    assert isinstance(store, Subscribable)
    batches = []
    subscription = store.subscribe("/a", "/b", batches.append)

    store.txn([], [Put("/a/x", b"abc")])

    assert batches[-1].events[0].current.value == b"abc"
    subscription.close()


@pytest.mark.parametrize("may_wait", [False, True], ids=["at once", "may wait"])
def test_writes_are_queued_by_the_store_unless_a_form_may_wait(inner, may_wait):
    queueing = OtherProcess(inner)
    store = transformed(queueing, Reversed(), may_wait=may_wait)

    assert isinstance(store, QueuesWrites) is not may_wait
    if not may_wait:
        store.queue_writes(print)
        assert queueing.pause is print


def test_writes_to_a_store_in_this_process_are_not_queued_beneath_a_form(inner):
    assert not isinstance(transformed(inner, Reversed(), may_wait=False), QueuesWrites)
