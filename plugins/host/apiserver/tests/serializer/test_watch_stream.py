"""A watch as a body that grows: what a drain gives, and whether it has to be drained again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hyperkube_host.apiserver.serializer.coarse_timers import CoarseTimers
from hyperkube_host.apiserver.serializer.watch_stream import (
    BOOKMARK_SECONDS,
    LAST_BOOKMARK_SECONDS,
    JsonFrames,
    WatchStream,
)
from hyperkube_lib.serving.exchange import AllChunks
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import ADDED, CacheEvent, CacheWatch, Scope, Transitions

from hyperkube.machinery.clock import FakeClock


class Rig:
    def __init__(self, *, accepts=None, seconds=300.0, turn=None, clock=None):
        self.clock, self.rings = clock or FakeClock(), []
        self.signal = SimpleNamespace(connect=lambda notify: None)
        self.watch = CacheWatch(
            Scope(), None, clock=self.clock, position=lambda: 9, forget=lambda _watch: None, notify=self.rings.append
        )
        kind = SimpleNamespace(kind="Pod", api_version="v1")
        served = SimpleNamespace(
            waits=accepts is not None, body=lambda obj: obj.body, parsed_all=lambda _objects: None, empty={}, kind=kind
        )
        opened = SimpleNamespace(
            watch=self.watch, served=served, signal=self.signal, bookmarks=True, seconds=seconds, error=None,
            selected=lambda events: [event for event in events if accepts(event.object)],
        )  # fmt: skip
        self.stream = WatchStream(opened, JsonFrames(served), CoarseTimers(self.clock), turn)
        self.stream.subscribe(lambda: None)

    def offer(self, name, revision=5):
        obj = CachedObject(f"/pods/d/{name}", revision, b'"%s"' % name.encode(), namespace="d")
        self.watch.offer(Transitions(CacheEvent(ADDED, revision, obj)))


@pytest.fixture
def rig():
    return Rig()


def test_a_drain_that_empties_the_watch_need_not_be_repeated(rig):
    rig.offer("a")
    rig.offer("b")
    chunks = rig.stream.drain()
    rig.offer("c")

    assert isinstance(chunks, AllChunks)
    assert chunks == [b'{"type":"ADDED","object":"a"}\n{"type":"ADDED","object":"b"}\n']
    assert len(rig.rings) == 2


def test_a_bookmark_that_is_due_comes_behind_the_events(rig):
    rig.offer("a")
    rig.clock.advance(BOOKMARK_SECONDS)
    first, second = rig.stream.drain(), rig.stream.drain()

    assert first == [b'{"type":"ADDED","object":"a"}\n']
    assert not isinstance(first, AllChunks)
    assert b'"type":"BOOKMARK"' in second[0]


def test_the_last_bookmark_comes_two_seconds_before_the_end():
    rig = Rig(seconds=90.0)
    rig.clock.advance(BOOKMARK_SECONDS)
    first = rig.stream.drain()
    rig.clock.advance(90.0 - BOOKMARK_SECONDS - LAST_BOOKMARK_SECONDS - 0.1)
    between = rig.stream.drain()
    rig.clock.advance(0.1)
    last = rig.stream.drain()
    rig.clock.advance(LAST_BOOKMARK_SECONDS)

    assert [b"BOOKMARK" in b"".join(chunks) for chunks in (first, between, last)] == [True, False, True]
    assert rig.stream.drain() is None


def test_watches_of_one_turn_get_their_bookmarks_in_one_second_of_each_minute():
    clock = FakeClock()
    first = Rig(turn=7, clock=clock)
    clock.advance(20.5)
    first.stream.drain()
    second = Rig(turn=7, clock=clock)

    told = []
    for _ in range(140):
        clock.advance(1)
        told += [(clock.monotonic(), rig) for rig in (first, second) if b"BOOKMARK" in b"".join(rig.stream.drain())]

    assert told == [(7.5 + 60 * minute, rig) for minute in (1, 2) for rig in (first, second)]


def test_a_bookmark_is_all_that_there_is_unless_the_watch_is_over():
    rig = Rig(turn=0)
    rig.clock.advance(BOOKMARK_SECONDS)
    first = rig.stream.drain()
    rig.clock.advance(BOOKMARK_SECONDS)
    rig.watch.end()
    second = rig.stream.drain()

    assert isinstance(first, AllChunks)
    assert not isinstance(second, AllChunks)
    assert rig.stream.drain() is None


def test_a_watch_shorter_than_that_gets_no_bookmark():
    rig = Rig(seconds=1.5)
    rig.clock.advance(1.4)
    chunks = rig.stream.drain()
    rig.clock.advance(0.1)

    assert chunks == []
    assert rig.stream.drain() is None


def test_a_watch_that_has_ended_is_drained_to_its_end(rig):
    rig.offer("a")
    rig.watch.end()
    first = rig.stream.drain()

    assert not isinstance(first, AllChunks)
    assert rig.stream.drain() is None


def test_events_that_the_client_does_not_see_do_not_hold_up_those_that_it_does():
    rig = Rig(accepts=lambda obj: obj.name == "seen")
    rig.offer("hidden" * 20000)
    rig.offer("seen")

    assert rig.stream.drain() == [b'{"type":"ADDED","object":"seen"}\n']
