"""How much of the loop's time a body has that ends by itself."""

import logging

import pytest
from hyperkube_lib.serving import body_writer
from hyperkube_lib.serving.body_writer import LONGEST_SHARE, BodyWriter

PIECE_SECONDS = 0.001


class Loop:
    """The loop; `turn` does what is due, and all else for so long."""

    def __init__(self):
        self.asyncio = self
        self.due, self.rung, self.now = [], [], 100.0

    def call_soon(self, call):
        self.due.append(call)

    def ring(self, stream):
        self.rung.append(stream)

    def turn(self, seconds):
        self.now += seconds
        due, self.due = self.due, []
        for call in due:
            call()
        rung, self.rung = self.rung, []
        for stream in rung:
            stream.flush()


class Sink:
    """A client, who keeps up for so many pieces."""

    def __init__(self, room):
        self.room = room
        self.sent, self.ended = 0, None

    @property
    def writable(self):
        return self.sent < self.room

    def send_chunks(self, chunks):
        self.sent += len(chunks)

    def end_body(self, *, broken):
        self.ended = broken


class Source:
    """So many pieces, each of which takes `PIECE_SECONDS`."""

    def __init__(self, loop, pieces):
        self.loop, self.left = loop, pieces

    def subscribe(self, notify):
        pass

    def drain(self):
        self.loop.now += PIECE_SECONDS
        self.left -= 1
        return (b"x",) if self.left >= 0 else None

    def close(self):
        pass


@pytest.fixture
def sent(monkeypatch):
    """Return a function that begins a body, and returns the loop, the client and the writer."""

    def begin(pieces=1000, room=1000):
        loop = Loop()
        monkeypatch.setattr(body_writer, "_monotonic", lambda: loop.now)
        sink = Sink(room)
        writer = BodyWriter(Source(loop, pieces), sink, loop=loop, logger=logging.getLogger(), gives_way=True)
        writer.start()
        return loop, sink, writer

    return begin


@pytest.mark.parametrize(
    ("others", "pieces"),
    [(0.0, 1), (0.0029, 3), (1.0, LONGEST_SHARE / PIECE_SECONDS)],
    ids=["idle", "busy", "very busy"],
)
def test_it_has_as_much_time_as_all_else(sent, others, pieces):
    loop, sink, _ = sent()
    loop.turn(0.0)
    before = sink.sent
    loop.turn(others)

    assert (before, sink.sent - before) == (1, pieces)
    assert len(loop.due) == 1


def test_it_waits_for_a_client_who_is_behind(sent):
    loop, sink, writer = sent(room=2)
    loop.turn(1.0)
    assert (sink.sent, loop.due, loop.rung) == (2, [], [])

    sink.room = 3
    writer.resume()
    writer.resume()
    assert len(loop.rung) == 1
    loop.turn(1.0)

    assert sink.sent == 3


def test_it_ends_within_a_turn(sent):
    loop, sink, _ = sent(pieces=2)
    loop.turn(1.0)

    assert (sink.sent, sink.ended, loop.due) == (2, False, [])
