"""Readers are told when the cache has what they wait for, and not before."""

import threading

import pytest
from hyperkube_lib.watch_cache.waiting_readers import FIRST_WAIT_SECONDS, RemoteReaders, WaitingReaders

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import Timeout
from hyperkube.storage.store import StoreUnavailable
from hyperkube.testing.waiting import eventually


class Cache:
    """A cache whose revision is set by hand."""

    def __init__(self, clock):
        self.applied = 0
        self.readers = WaitingReaders(clock, lambda: self.applied, 3.0)

    def deliver(self, revision):
        self.applied = revision
        self.readers.reach()


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def cache(clock):
    return Cache(clock)


def test_a_change_wakes_those_alone_whose_revision_it_reaches(cache):
    told = []
    for revision in (5, 3, 4):
        cache.readers.add(revision, [lambda error, revision=revision: told.append((revision, error))])

    cache.deliver(2)
    before = list(told)
    cache.deliver(4)

    assert (before, told) == ([], [(3, None), (4, None)])


def test_a_revision_that_is_there_is_told_at_once(cache):
    cache.deliver(7)
    told = []

    cache.readers.add(7, [told.append])

    assert told == [None]


def test_a_thread_waits_no_longer_than_the_timeout(cache, clock):
    caught = []

    def read():
        try:
            cache.readers.wait(9)
        except Timeout as error:
            caught.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    eventually(lambda: cache.readers.waiting)
    clock.advance(3.1)
    reader.join(30)

    assert caught == ["Timeout: Too large resource version: 9, current: 0"]


def test_after_the_end_none_waits(cache):
    told = []
    cache.readers.add(9, [told.append])

    cache.readers.close()
    cache.readers.add(9, [told.append])

    assert [type(error) for error in told] == [Timeout, Timeout]


class Remote:
    """A store in another process; `gate` holds up its answers."""

    def __init__(self, cache, clock):
        self.cache, self.revision, self.failure = cache, 1, None
        self.asked = self.progress = 0
        self.gate = threading.Event()
        self.gate.set()
        self.readers = RemoteReaders(cache.readers, clock, self.tell, lambda: cache.applied, self.request_progress)

    def tell(self):
        self.asked += 1
        revision, failure = self.revision, self.failure
        self.gate.wait(30)
        if failure is not None:
            raise failure
        return revision

    def request_progress(self):
        self.progress += 1


@pytest.fixture
def remote(cache, clock):
    made = Remote(cache, clock)
    yield made
    made.gate.set()
    made.readers.close()


class TestReadersOfARemoteStore:
    def test_who_comes_before_the_question_shares_its_answer(self, remote, cache):
        told = []
        remote.gate.clear()
        remote.readers.when_current(told.append)
        eventually(lambda: remote.asked == 1)
        for _ in range(50):
            remote.readers.when_current(told.append)

        remote.gate.set()
        eventually(lambda: remote.asked == 2 and len(cache.readers.waiting) == 2)
        cache.deliver(1)

        assert (remote.asked, told) == (2, [None] * 51)

    def test_who_comes_after_it_may_want_more_than_its_answer(self, remote, cache):
        early, late = [], []
        remote.gate.clear()
        remote.readers.when_current(early.append)
        eventually(lambda: remote.asked == 1)
        remote.revision = 2
        remote.readers.when_current(late.append)

        remote.gate.set()
        eventually(lambda: len(cache.readers.waiting) == 2)
        cache.deliver(1)
        before = list(late)
        cache.deliver(2)

        assert (early, before, late) == ([None], [], [None])

    def test_a_store_that_does_not_answer_is_an_error_of_all_who_asked(self, remote):
        told = []
        remote.failure = StoreUnavailable("away")

        remote.readers.when_current(told.append)
        eventually(lambda: told)
        with pytest.raises(StoreUnavailable):
            remote.readers.wait(None)

        assert told == [remote.failure]

    def test_the_watch_is_asked_when_nothing_has_come_for_a_while(self, remote, cache, clock):
        told = []
        remote.readers.when_current(told.append)
        eventually(lambda: cache.readers.waiting)

        def asked():
            clock.advance(FIRST_WAIT_SECONDS / 2)
            return remote.progress == 1

        eventually(asked)
        cache.deliver(1)

        assert told == [None]

    def test_a_revision_that_does_not_come_is_too_large(self, remote, cache, clock):
        told = []
        remote.readers.when_current(told.append)
        eventually(lambda: cache.readers.waiting)

        def expired():
            clock.advance(0.1)
            return told

        eventually(expired)

        assert [str(error) for error in told] == ["Timeout: Too large resource version: 1, current: 0"]

    def test_after_the_end_who_asks_is_refused(self, remote):
        remote.readers.close()

        with pytest.raises(StoreUnavailable, match="the store is closed"):
            remote.readers.wait(None)
