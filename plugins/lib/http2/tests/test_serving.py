"""A server that speaks HTTP/2: the same requests and answers as over HTTP/1.1, many at a time on one connection."""

from __future__ import annotations

import gc
import gzip
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from h2.settings import SettingCodes
from hyperkube_lib.http2.request_streams import WINDOW
from hyperkube_lib.http2.server_connection import ServerConnection
from hyperkube_lib.http2.serving import Http2Serving
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import ExecUpgrade, HttpRequest, RelayUpgrade, Response, StreamResponse
from hyperkube_lib.serving.finite_streams import EndingSource, PieceSource
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.protocol import Connection
from hyperkube_testing.peers.toy_server import EndlessSource

from hyperkube.testing.waiting import eventually

if TYPE_CHECKING:
    from conftest import Peer
    from hyperkube_testing.peers.toy_server import QueueSource, Toy

Start = Callable[..., Edge]
Connect = Callable[..., "Peer"]


@pytest.mark.parametrize(
    ("offered", "streams", "spoken"),
    [
        (["h2", "http/1.1"], 0, "http/1.1"),
        (["h2", "http/1.1"], 250, "h2"),
        (["h2"], 0, "h2"),
        (["http/1.1"], 250, "http/1.1"),
    ],
    ids=["both get HTTP/1.1", "both get HTTP/2 where it is asked for", "HTTP/2 alone", "HTTP/1.1 alone"],
)
def test_what_is_spoken_is_agreed_on_in_the_handshake(
    start: Start, connect: Connect, offered: list[str], streams: int, spoken: str
) -> None:
    edge = start(http2=Http2Serving(max_streams=streams))

    assert connect(edge, *offered).protocol == spoken


def test_a_request_is_what_it_is_over_http_1_1(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start())

    number = peer.ask(
        "/a%20b?x=1&y=2", ("accept", "*/*"), ("x-two", "1"), ("x-two", "2"), ("cookie", "a=1"), ("cookie", "b=2")
    )

    assert peer.answer(number) == (200, b"echo ")
    request = toy.seen[0]
    assert (request.method, request.path, request.raw_path, request.query_string) == (
        "GET",
        "/a b",
        "/a%20b",
        "x=1&y=2",
    )
    assert request.headers == {"accept": "*/*", "x-two": "1, 2", "cookie": "a=1; b=2", "host": "toy"}
    assert request.repeated == {"x-two": ["1", "2"], "cookie": ["a=1", "b=2"]}
    assert request.secure
    assert request.peer[0] == "127.0.0.1"


def test_answers_say_their_length_and_their_date(start: Start, connect: Connect, toy: Toy) -> None:
    toy.hot_routes["/hot"] = lambda _: Response(status=201, headers=[("X-Kind", "hot")], body=b"hot")
    peer = connect(start())

    number = peer.ask("/hot")

    assert peer.answer(number) == (201, b"hot")
    head = peer.heads[number]
    assert (head["x-kind"], head["content-length"]) == ("hot", "3")
    assert head["date"].endswith("GMT")


def test_equal_fields_are_read_once(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start())

    peer.answer(peer.ask("/one", ("authorization", "Bearer t")))
    peer.answer(peer.ask("/two", ("authorization", "Bearer t")))

    assert [request.path for request in toy.seen] == ["/one", "/two"]
    assert toy.seen[0].headers is toy.seen[1].headers
    assert toy.seen[0].head is toy.seen[1].head


def test_bounds_are_the_same_for_the_next_connection(start: Start, connect: Connect) -> None:
    edge = start(http2=Http2Serving(max_streams=7))
    limits = []
    for _ in range(2):  # both have acknowledged the bounds when they are answered
        peer = connect(edge)
        peer.answer(peer.ask("/"))
        limits.append((peer.h2.remote_settings.max_concurrent_streams, peer.h2.remote_settings.initial_window_size))

    assert limits == [(7, WINDOW)] * 2


def test_a_body_comes_whole(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start())

    number = peer.ask("/post", ("content-length", "10"), method="POST", end=False)
    peer.send(number, b"01234")
    peer.send(number, b"56789", end=True)

    assert peer.answer(number) == (200, b"echo 0123456789")


def test_a_body_that_is_announced_too_long_is_refused_at_once(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start(limits=EdgeLimits(max_body=100)))

    number = peer.ask("/post", ("content-length", "101"), method="POST", end=False)

    assert peer.answer(number)[0] == 413
    assert toy.seen == []


def test_a_body_that_grows_too_long_is_refused(start: Start, connect: Connect, toy: Toy) -> None:
    peer = connect(start(limits=EdgeLimits(max_body=100)))

    number = peer.ask("/post", method="POST", end=False)
    peer.send(number, b"x" * 101)

    assert peer.answer(number)[0] == 413
    assert peer.answer(peer.ask("/")) == (200, b"echo ")


def test_expectant_clients_are_told_to_go_on(start: Start, connect: Connect) -> None:
    from h2.events import InformationalResponseReceived

    peer = connect(start())
    number = peer.ask("/post", ("expect", "100-continue"), ("content-length", "2"), method="POST", end=False)

    told = False
    while not told:
        events = peer.h2.receive_data(peer.sock.recv(65536))
        told = any(isinstance(event, InformationalResponseReceived) for event in events)
    peer.send(number, b"ok", end=True)

    assert peer.answer(number) == (200, b"echo ok")


def test_head_has_no_body(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/long"] = lambda _: Response(body=b"x" * 1000)
    peer = connect(start())

    number = peer.ask("/long", method="HEAD")

    assert peer.answer(number) == (200, b"")
    assert peer.heads[number]["content-length"] == "1000"


def test_a_slow_request_does_not_hold_up_the_others(start: Start, connect: Connect, toy: Toy) -> None:
    gate = threading.Event()

    def slow(_: HttpRequest) -> Response:
        gate.wait(20)
        return Response(body=b"slow")

    toy.routes["/slow"] = slow
    peer = connect(start())

    first, second = peer.ask("/slow"), peer.ask("/fast")
    assert peer.answer(second) == (200, b"echo ")
    gate.set()

    assert peer.answer(first) == (200, b"slow")


def test_large_answers_take_turns(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/large"] = lambda _: Response(body=b"l" * 3_000_000)
    peer = connect(start())

    first, second = peer.ask("/large"), peer.ask("/large")

    peer.until(lambda: len(peer.bodies.get(first, b"")) > 0 and len(peer.bodies.get(second, b"")) > 0)
    assert not {first, second} & peer.ended
    assert peer.answer(first) == peer.answer(second) == (200, b"l" * 3_000_000)


def test_watches_share_a_connection(start: Start, connect: Connect, toy: Toy, new_source: type[QueueSource]) -> None:
    sources = [new_source() for _ in range(14)]
    for number, source in enumerate(sources):
        toy.routes[f"/watch{number}"] = lambda _, source=source: StreamResponse(source=source)
        toy.long_running.add(f"/watch{number}")
    edge = start()
    peer = connect(edge)

    streams = [peer.ask(f"/watch{number}") for number in range(14)]
    peer.until(lambda: all(stream in peer.heads for stream in streams))
    for number, source in enumerate(sources):
        source.put(b"event %d\n" % number)
    peer.until(lambda: len(peer.bodies) == 14)

    assert [peer.bodies[stream] for stream in streams] == [b"event %d\n" % number for number in range(14)]
    assert edge.connections == 1
    sources[3].end()
    peer.answer(streams[3])
    assert sources[3].closed.wait(5)


def test_pieces_of_a_watch_keep_their_order_whether_they_fit_or_not(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    peer = connect(start(), opens_windows=False)
    number = peer.ask("/watch")
    peer.until(lambda: number in peer.heads)
    pieces = [b"%d" % digit * size for digit, size in enumerate((10, 20_000, 10, 40_000, 10, 10_000))]

    sent = b""
    for piece in pieces:
        source.put(piece)
        sent += piece
        window = min(len(sent), 65_535)
        peer.until(lambda: len(peer.bodies.get(number, b"")) >= window)  # noqa: B023  called in this round

    assert peer.bodies[number] == sent[:65_535]
    peer.h2.increment_flow_control_window(100_000)
    peer.h2.increment_flow_control_window(100_000, number)
    peer.flush()
    peer.until(lambda: len(peer.bodies[number]) >= len(sent))
    assert peer.bodies[number] == sent


def test_a_watch_that_the_client_cancels_is_let_go(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    peer = connect(start())
    number = peer.ask("/watch")
    peer.until(lambda: number in peer.heads)

    peer.h2.reset_stream(number, 8)
    peer.flush()

    assert source.closed.wait(5)
    assert peer.answer(peer.ask("/")) == (200, b"echo ")


def test_a_watch_is_let_go_when_the_client_hangs_up(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    peer = connect(start())
    number = peer.ask("/watch")
    peer.until(lambda: number in peer.heads)

    peer.close()

    assert source.closed.wait(5)


@pytest.fixture
def no_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def test_a_connection_and_its_watch_go_without_the_collector_of_garbage(
    start: Start,
    connect: Connect,
    toy: Toy,
    new_source: type[QueueSource],
    no_collections: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lasting: list[weakref.ref[Any]] = []
    make, lose = Connection.connection_made, ServerConnection.connection_lost

    def made(connection: Connection, transport: Any) -> None:
        lasting.append(weakref.ref(connection))
        make(connection, transport)

    def lost(connection: ServerConnection, exc: Exception | None) -> None:
        lasting.append(weakref.ref(connection.h2))
        lose(connection, exc)

    def watch(_: HttpRequest) -> StreamResponse:
        source = new_source()
        lasting.append(weakref.ref(source))
        source.put(b"one")
        return StreamResponse(source=source)

    monkeypatch.setattr(Connection, "connection_made", made)
    monkeypatch.setattr(ServerConnection, "connection_lost", lost)
    toy.routes["/watch"] = watch
    client = connect(start())
    number = client.ask("/watch")
    client.until(lambda: client.bodies.get(number) == b"one")

    client.close()

    assert eventually(lambda: [each() for each in lasting] == [None, None, None], 30)


@pytest.mark.parametrize("name", ["connection", "upgrade", "transfer-encoding", "keep-alive", "proxy-connection"])
def test_fields_of_http_1_1_are_refused(start: Start, connect: Connect, name: str) -> None:
    peer = connect(start())

    status, body = peer.answer(peer.ask("/", (name, "upgrade")))

    assert status == 400
    assert body == f'request header "{name.title()}" is not valid in HTTP/2\n'.encode()


def test_what_upgrades_needs_http_1_1(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=lambda _: None)
    toy.long_running.add("/exec")
    peer = connect(start())

    status, body = peer.answer(peer.ask("/exec", method="POST"))

    assert status == 400
    assert b"Upgrade request required" in body


def test_a_request_is_relayed_to_another_server(start: Start, connect: Connect, toy: Toy) -> None:
    behind = Edge(toy)
    behind.start()
    relay = RelayUpgrade(host="127.0.0.1", port=behind.port, path="/behind?a=1", tls=False)
    toy.routes["/proxy"] = lambda _: relay
    toy.long_running.add("/proxy")
    peer = connect(start())

    number = peer.ask("/proxy", ("content-length", "600000"), method="POST", end=False)
    left = 600_000
    while left:
        room = min(left, peer.h2.max_outbound_frame_size, peer.h2.local_flow_control_window(number))
        if not room:
            assert peer.read()
            continue
        left -= room
        peer.send(number, b"b" * room, end=not left)

    assert peer.answer(number) == (200, b"echo " + b"b" * 600_000)
    assert toy.seen[-1].uri == "/behind?a=1"
    behind.close(0.2)


def test_a_request_in_time_out_is_answered(start: Start, connect: Connect, toy: Toy) -> None:
    gate = threading.Event()
    toy.routes["/slow"] = lambda _: Response(body=b"late" if gate.wait(20) else b"")
    peer = connect(start(limits=EdgeLimits(workers=2, request_timeout=0.2)))

    status, body = peer.answer(peer.ask("/slow"))
    gate.set()

    assert status == 504
    assert b"Timeout" in body


def test_goaway_chance_asks_the_client_to_connect_anew(start: Start, connect: Connect) -> None:
    peer = connect(start(http2=Http2Serving(goaway_chance=1.0)))

    number = peer.ask("/")
    peer.rest()

    assert peer.goaway == 0
    assert peer.bodies[number] == b"echo "


@pytest.mark.parametrize(
    ("fields", "status", "leaves"),
    [([], 200, True), ([("authorization", "Bearer t")], 401, True), ([("authorization", "Bearer t")], 200, False)],
    ids=["no credentials", "wrong credentials", "credentials"],
)
def test_strangers_get_one_answer(
    start: Start, connect: Connect, toy: Toy, fields: list[tuple[str, str]], status: int, *, leaves: bool
) -> None:
    toy.routes["/"] = lambda _: Response(status=status, body=b"ok")
    peer = connect(start(http2=Http2Serving(keeps_strangers=False)))

    assert peer.answer(peer.ask("/", *fields)) == (status, b"ok")

    if leaves:
        peer.rest()
        assert peer.goaway == 0
    else:
        assert peer.answer(peer.ask("/", *fields)) == (status, b"ok")


def test_an_answer_that_closes_its_connection_says_goodbye(start: Start, connect: Connect, toy: Toy) -> None:
    toy.routes["/bye"] = lambda _: Response(headers=[("Connection", "close")], body=b"bye")
    peer = connect(start())

    peer.ask("/bye")
    peer.rest()

    assert peer.goaway == 0


def test_a_closing_server_ends_watches_properly(start: Start, connect: Connect, toy: Toy, source: QueueSource) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    edge = start()
    peer = connect(edge)
    number = peer.ask("/watch")
    peer.until(lambda: number in peer.heads)

    closing = threading.Thread(target=edge.close, args=(5.0,))
    closing.start()
    peer.rest()
    closing.join()

    assert peer.goaway == 0
    assert source.closed.is_set()
    assert edge.connections == 0


@pytest.mark.parametrize("path", ["/", "/watch"], ids=["at rest", "with a watch"])
def test_a_closing_server_waits_for_no_client_that_keeps_its_socket_open(
    start: Start, connect: Connect, toy: Toy, source: QueueSource, path: str
) -> None:
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    toy.long_running.add("/watch")
    edge = start()
    peer = connect(edge)
    number = peer.ask(path)
    peer.until(lambda: number in (peer.heads if path == "/watch" else peer.ended))

    closing = threading.Thread(target=edge.close, args=(60.0,), daemon=True)
    closing.start()
    closing.join(20)  # nothing is read meanwhile

    assert not closing.is_alive()
    assert edge.connections == 0
    peer.rest()
    assert peer.goaway == 0
    assert number in peer.ended


@pytest.mark.parametrize("gzips", [False, True], ids=["plain", "gzipped"])
def test_a_large_body_is_made_as_its_client_takes_it(start: Start, connect: Connect, toy: Toy, gzips: bool) -> None:
    pieces, closed = [b"%06d," % number * 10_000 for number in range(50)], threading.Event()
    toy.routes["/list"] = lambda _: StreamResponse(
        source=EndingSource(PieceSource(iter(pieces)), closed.set), finite=True
    )
    peer = connect(start())

    number = peer.ask("/list", *([("accept-encoding", "gzip")] if gzips else []))

    status, body = peer.answer(number)
    assert status == 200
    assert (gzip.decompress(body) if gzips else body) == b"".join(pieces)
    assert closed.wait(30)


def test_a_closing_server_sends_large_bodies_to_their_end(
    start: Start, connect: Connect, toy: Toy, source: QueueSource
) -> None:
    toy.routes["/list"] = lambda _: StreamResponse(source=source, finite=True)
    edge = start()
    peer = connect(edge)
    number = peer.ask("/list")
    peer.until(lambda: number in peer.heads)

    closing = threading.Thread(target=edge.close, args=(2.0,))
    closing.start()
    peer.until(lambda: peer.goaway is not None)
    was_closed = source.closed.is_set()
    source.put(b"the last piece")
    source.end()
    data = b""
    while more := peer.sock.recv(65536):  # the library reads nothing behind a GOAWAY
        data += more
    closing.join()

    assert not was_closed
    assert b"the last piece" in data
    assert data.endswith(peer.frame(0, 1, number))  # DATA, END_STREAM


def test_a_large_body_that_fails_is_reset(start: Start, connect: Connect, toy: Toy) -> None:
    def failing() -> Iterator[bytes]:
        yield b"x" * 100_000
        raise RuntimeError("broken")

    toy.routes["/list"] = lambda _: StreamResponse(source=PieceSource(failing()), finite=True)
    peer = connect(start())
    number = peer.ask("/list")

    peer.until(lambda: number in peer.reset)

    assert peer.reset[number] == 2  # INTERNAL_ERROR
    assert number not in peer.ended


def test_refusing_servers_refuse_over_http_2_too(start: Start, connect: Connect, toy: Toy) -> None:
    edge = start()
    peer = connect(edge)
    peer.answer(peer.ask("/"))
    edge._service.refuse = lambda _: Response(status=429, body=b"later")

    peer.ask("/")
    peer.rest()

    assert peer.goaway == 0
    assert len(toy.seen) == 1


def test_another_make_of_client_is_served(start: Start, toy: Toy) -> None:
    httpx: Any = pytest.importorskip("httpx", reason="a client of another make")
    toy.hot_routes["/hot"] = lambda _: Response(body=b"hot" * 100_000)
    edge = start(http2=Http2Serving(max_streams=10))

    with httpx.Client(http2=True, verify=False) as client:
        answers = [client.get(f"https://127.0.0.1:{edge.port}/hot") for _ in range(3)]
        posted = client.post(f"https://127.0.0.1:{edge.port}/post", content=b"p" * 100_000)

    assert {answer.http_version for answer in answers} == {"HTTP/2"}
    assert {answer.content for answer in answers} == {b"hot" * 100_000}
    assert posted.content == b"echo " + b"p" * 100_000


def test_nothing_more_is_written_when_a_client_has_ended_tls(
    start: Start, connect: Connect, toy: Toy, caplog: pytest.LogCaptureFixture
) -> None:
    source = EndlessSource(b"x" * 16_000)
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    peer = connect(start(), opens_windows=False)
    peer.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1 << 30})
    peer.h2.increment_flow_control_window(1 << 30)
    number = peer.ask("/watch")
    peer.until(lambda: len(peer.bodies.get(number, b"")) > 100_000)

    socket.socket.shutdown(peer.sock, socket.SHUT_RDWR)

    assert source.closed.wait(30)
    assert [record.message for record in caplog.records] == []
