"""Clients that mean no good: each is sent away or held up, and others are served meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING

import pytest
from hyperkube_lib.http2.serving import Http2Serving
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse
from hyperkube_lib.serving.limits import EdgeLimits

if TYPE_CHECKING:
    from conftest import Peer
    from hyperkube_testing.peers.toy_server import QueueSource, Toy

Start = Callable[..., Edge]
Connect = Callable[..., "Peer"]

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
PROTOCOL_ERROR, REFUSED, CANCEL, CALM = 1, 7, 8, 11
SHORT = EdgeLimits(workers=4, idle_timeout=0.5, head_timeout=0.5, stall_timeout=1.0, request_timeout=1.0)


def flood(peer: Peer, frames: bytes, times: int) -> None:
    """Send the same many times, until the server has had enough."""
    pour(peer, repeat(frames, times))


def pour(peer: Peer, pieces: Iterable[bytes]) -> None:
    """Send until the server has had enough, and read what it says."""
    try:
        for piece in pieces:
            peer.sock.sendall(piece)
    except OSError:
        pass
    peer.rest()


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (PING, b"8 bytes!"),
        (SETTINGS, b"\0\3\0\0\0\x64"),
        (SETTINGS, b""),
        (PRIORITY, b"\0\0\0\0\1"),
        (0x42, b"unknown"),
    ],
    ids=["pings", "settings", "empty settings", "priorities", "unknown frames"],
)
def test_a_flood_of_frames_is_told_to_calm_down(start: Start, connect: Connect, kind: int, payload: bytes) -> None:
    edge = start()
    peer, other = connect(edge), connect(edge)
    stream = 1 if kind == PRIORITY else 0

    flood(peer, peer.frame(kind, 0, stream, payload) * 500, 20)

    assert peer.goaway == CALM
    assert other.answer(other.ask("/")) == (200, b"echo ")


def test_empty_pieces_of_a_body_are_a_flood(start: Start, connect: Connect) -> None:
    peer = connect(start())
    number = peer.ask("/post", method="POST", end=False)

    flood(peer, peer.frame(DATA, 0, number) * 500, 20)

    assert peer.goaway == CALM


def test_windows_opened_by_a_byte_are_a_flood(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/large"] = lambda _: Response(body=b"l" * 1_000_000)
    peer = connect(start(), opens_windows=False)
    number = peer.ask("/large")

    flood(peer, peer.frame(WINDOW_UPDATE, 0, number, b"\0\0\0\1") * 500, 20)

    assert peer.goaway == CALM


def test_rapid_resets_are_a_flood(start: Start, connect: Connect, toy: Toy) -> None:
    edge = start()
    peer, other = connect(edge), connect(edge)

    try:
        for _ in range(2000):
            number = peer.h2.get_next_available_stream_id()
            peer.h2.send_headers(number, [(":method", "GET"), (":scheme", "https"), (":path", "/")], end_stream=True)
            peer.h2.reset_stream(number, CANCEL)
            peer.flush()
    except OSError:
        pass
    peer.rest()

    assert peer.goaway == CALM
    assert len(toy.seen) < 400
    assert other.answer(other.ask("/")) == (200, b"echo ")


def test_requests_that_were_reset_count_until_their_work_is_done(start: Start, connect: Connect, toy: Toy) -> None:
    gate = threading.Event()

    def slow(_: HttpRequest) -> Response:
        gate.wait(20)
        return Response()

    toy.routes["/slow"] = slow
    peer = connect(start(limits=EdgeLimits(workers=64), http2=Http2Serving(max_streams=5)))

    for _ in range(40):
        peer.h2.reset_stream(peer.ask("/slow"), CANCEL)
        peer.flush()
    number = peer.ask("/last")
    time.sleep(0.3)
    begun = len(toy.seen)
    gate.set()

    assert begun <= 5
    assert peer.answer(number) == (200, b"echo ")
    assert len(toy.seen) <= begun + 1


def test_streams_beyond_the_limit_are_refused_and_far_beyond_end_the_connection(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    peer = connect(start(http2=Http2Serving(max_streams=3)))

    streams = [peer.ask("/watch") for _ in range(5)]  # before it has read how many it may open
    peer.until(lambda: len(peer.reset) == 2)
    assert peer.reset == {streams[3]: REFUSED, streams[4]: REFUSED}
    fields = [(":method", "POST"), (":scheme", "https"), (":path", "/")]
    many = (peer.frame(HEADERS, 4, number, peer.h2.encoder.encode(fields)) for number in range(11, 51, 2))
    pour(peer, [b"".join(many)])  # read one by one, they are refused one by one

    assert peer.goaway is not None
    assert source.closed.wait(5)


def test_an_endless_row_of_continuations_ends(start: Start, connect: Connect) -> None:
    edge = start()
    peer, other = connect(edge), connect(edge)
    peer.sock.sendall(peer.frame(HEADERS, 0, 1, b"\x82\x87\x84"))

    flood(peer, peer.frame(CONTINUATION, 0, 1, b"\x10\x01a\x01b" * 100), 2000)

    assert peer.goaway is not None
    assert other.answer(other.ask("/")) == (200, b"echo ")


def test_a_header_bomb_is_not_unpacked(start: Start, connect: Connect) -> None:
    """Kilobytes that refer to one large entry of the table again and again would be megabytes."""
    peer = connect(start(limits=EdgeLimits(max_head=64 * 1024)))
    large = b"\x40\x01a\x7f\xa1\x1e" + b"x" * 4000  # a literal of 4000 bytes that is put into the table
    peer.sock.sendall(peer.frame(HEADERS, 5, 1, b"\x82\x87\x84" + large + b"\xbe" * 10_000))

    peer.rest()

    assert peer.goaway == CALM


def test_garbage_is_answered_with_an_error(start: Start, connect: Connect) -> None:
    peer = connect(start())

    flood(peer, peer.frame(HEADERS, 5, 1, b"\xff" * 100), 1)

    assert peer.goaway is not None


@pytest.mark.parametrize("field", [("Upper", "x"), ("x", "line\nbreak"), (":late", "x")], ids=lambda pair: pair[0])
def test_a_malformed_request_costs_its_stream_alone(
    start: Start, connect: Connect, toy: Toy, field: tuple[str, str]
) -> None:
    peer = connect(start())

    number = peer.ask("/", field)
    peer.until(lambda: number in peer.reset)

    assert peer.reset[number] == PROTOCOL_ERROR
    assert peer.answer(peer.ask("/")) == (200, b"echo ")
    assert len(toy.seen) == 1


def test_a_window_that_is_never_opened_ends_the_answer(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/large"] = lambda _: Response(body=b"l" * 1_000_000)
    peer = connect(start(limits=SHORT), opens_windows=False)

    number = peer.ask("/large")
    peer.until(lambda: number in peer.reset)

    assert peer.reset[number] == CANCEL
    assert len(peer.bodies[number]) == 65535


def test_a_watch_that_is_behind_is_not_drained_and_then_ended(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    peer = connect(start(limits=SHORT), opens_windows=False)
    number = peer.ask("/watch")
    peer.until(lambda: number in peer.heads)

    for _ in range(300):
        source.put(b"e" * 10_000)
        time.sleep(0.002)
    left = len(source.pieces)
    peer.until(lambda: number in peer.reset)

    assert left > 200  # of 3 MB it took 64 KiB beyond the window, and what came with them
    assert source.closed.wait(5)


def test_a_client_that_reads_nothing_is_cut_off(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/large"] = lambda _: Response(body=b"l" * 3_000_000)
    edge = start(limits=SHORT)
    peer = connect(edge, opens_windows=False)
    peer.h2.increment_flow_control_window(1 << 30)
    for _ in range(20):
        number = peer.ask("/large")
        peer.h2.increment_flow_control_window(1 << 30, number)
    peer.flush()

    deadline = time.monotonic() + 15
    while edge.connections and time.monotonic() < deadline:
        time.sleep(0.1)

    assert edge.connections == 0


def test_what_waits_for_a_client_holds_up_its_next_requests(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/large"] = lambda _: Response(body=b"l" * 3_000_000)
    peer = connect(start(limits=EdgeLimits(workers=4)), opens_windows=False)

    for _ in range(50):
        peer.ask("/large")
    time.sleep(1.0)

    assert 3 <= len(toy.seen) <= 36  # as many as are worked on at a time, and a few that the window let out


def test_a_body_that_does_not_come_ends_its_stream(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start(limits=SHORT))

    number = peer.ask("/post", method="POST", end=False)
    peer.until(lambda: number in peer.reset)

    assert toy.seen == []


def test_bodies_together_are_bounded(start: Start, connect: Connect, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperkube_lib.http2.request_streams._MOST_BODIES", 100_000)
    peer = connect(start())
    peer.answer(peer.ask("/"))
    streams = [peer.ask("/post", method="POST", end=False) for _ in range(7)]

    for number in streams:
        peer.send(number, b"x" * 16_000)

    assert peer.answer(streams[-1])[0] == 429
    peer.send(streams[0], b"", end=True)
    assert peer.answer(streams[0])[0] == 200


@pytest.mark.parametrize(
    ("sent", "code"),
    [(b"", 0), (b"PRI * HTTP/2.0\r\n", 0), (b"GET / HTTP/1.1\r\nHost: toy\r\n\r\n", None)],
    ids=["nothing", "half a greeting", "HTTP/1.1"],
)
def test_a_client_that_does_not_greet_is_let_go(start: Start, connect: Connect, sent: bytes, code: int | None) -> None:
    peer = connect(start(limits=SHORT), greets=False, opens_windows=False)
    peer.sock.sendall(sent)

    peer.rest()

    assert peer.goaway == code


def test_an_idle_connection_is_ended_with_a_word(start: Start, connect: Connect) -> None:
    peer = connect(start(limits=SHORT))
    peer.answer(peer.ask("/"))

    peer.rest()

    assert peer.goaway == 0
