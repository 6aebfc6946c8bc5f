"""A stream that is waited for: drained elsewhere, in order, no faster than it is taken."""

import threading

import pytest
from hyperkube_host.apiserver.serializer.waiting_stream import WaitingStream

WAIT_SECONDS = 30


class Source:
    """Gives what a test puts in, and notes who drains."""

    def __init__(self, *chunks):
        self.chunks = list(chunks)
        self.drained_by = set()
        self.drains = 0
        self.closed = False

    def subscribe(self, notify):
        self.ring = notify

    def drain(self):
        self.drained_by.add(threading.current_thread())
        self.drains += 1
        found = self.chunks.pop(0) if self.chunks else []
        if isinstance(found, Exception):
            raise found
        return found

    def close(self):
        self.closed = True


def collected(stream, count=1):
    """Drain as the loop does until so many chunks came, or the end."""
    found, rung = [], threading.Event()
    stream.subscribe(rung.set)
    while len(found) < count:
        chunks = stream.drain()
        if chunks is None:
            return found, True
        found += chunks
        if not chunks:
            assert rung.wait(WAIT_SECONDS), "nobody rang"
            rung.clear()
    return found, False


def test_frames_come_in_order_and_are_made_on_another_thread():
    source = Source([b"a"], [b"b", b"c"], None)

    found, ended = collected(WaitingStream(source), count=9)

    assert (found, ended) == ([b"a", b"b", b"c"], True)
    assert threading.current_thread() not in source.drained_by


def test_no_more_is_made_than_is_taken():
    source, rung = Source([b"a"], [b"b"]), threading.Event()
    stream = WaitingStream(source)

    stream.subscribe(rung.set)

    assert rung.wait(WAIT_SECONDS)
    assert source.drains == 1
    assert stream.drain() == [b"a"]


def test_a_ring_of_the_source_brings_what_came_later():
    source = Source()
    stream = WaitingStream(source)
    rung = threading.Event()
    stream.subscribe(rung.set)
    assert rung.wait(WAIT_SECONDS)
    rung.clear()
    source.chunks.append([b"late"])

    source.ring()

    assert rung.wait(WAIT_SECONDS)
    assert stream.drain() == [b"late"]


def test_a_failure_is_the_readers():
    stream = WaitingStream(Source(ZeroDivisionError("a bug")))

    with pytest.raises(ZeroDivisionError, match="a bug"):
        collected(stream)


def test_closing_closes_the_source():
    source = Source()

    WaitingStream(source).close()

    assert source.closed
