"""Bodies that end by themselves: what is made as the client takes it."""

from __future__ import annotations

import gzip
import threading

import pytest
from hyperkube_lib.serving.exchange import StreamResponse
from hyperkube_lib.serving.finite_streams import AHEAD_BYTES, EndingSource, PieceSource, gathered

PIECES = [b"[", *(b"%06d," % number * 5000 for number in range(40)), b"0]"]
WHOLE = b"".join(PIECES)


def answer(pieces=PIECES, *, slow=False, made=None, closed=None):
    """Answer with pieces; `made` gets the thread that makes each, `closed` is set when the source is closed."""

    def make():
        for piece in pieces:
            if made is not None:
                made.append(threading.current_thread().name)
            yield piece

    source = PieceSource(make())
    if closed is not None:
        source = EndingSource(source, closed.set)
    return StreamResponse(headers=[("Content-Type", "application/json")], source=source, finite=True, slow=slow)


def body(client):
    """Return a body that comes in chunks."""
    chunks = []
    while chunk := client.chunk():
        chunks.append(chunk)
    return b"".join(chunks)


@pytest.mark.parametrize("slow", [False, True], ids=["on the loop", "by workers"])
def test_it_comes_whole_and_the_connection_can_be_used_again(toy, edge, connect, slow):
    made, closed = [], threading.Event()
    toy.routes["/list"] = lambda _: answer(slow=slow, made=made, closed=closed)
    client = connect(edge)
    client.get("/list")
    client.get("/next")

    _, headers = client.head()

    assert headers["transfer-encoding"] == "chunked"
    assert body(client) == WHOLE
    assert client.answer()[2] == b"echo "
    assert closed.wait(30)
    assert len(made) == len(PIECES)
    on_loop = [name for name in made if name == "edge-loop"]
    assert on_loop == ([] if slow else made)


def test_it_is_gzipped_by_workers_for_who_takes_that(toy, edge, connect):
    made = []
    toy.routes["/list"] = lambda _: answer(made=made)
    client = connect(edge)
    client.get("/list", "Accept-Encoding: gzip")

    _, headers = client.head()

    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(body(client)) == WHOLE
    assert "edge-loop" not in made


def test_what_is_encoded_already_is_not_gzipped(toy, edge, connect):
    def encoded(_):
        made = answer()
        made.headers.append(("Content-Encoding", "br"))
        return made

    toy.routes["/list"] = encoded
    client = connect(edge)
    client.get("/list", "Accept-Encoding: gzip")

    _, headers = client.head()

    assert headers["content-encoding"] == "br"
    assert body(client) == WHOLE


def failing():
    yield b"[" + b"x" * 100_000
    raise RuntimeError("broken")


@pytest.mark.parametrize("fields", [(), ("Accept-Encoding: gzip",)], ids=["on the loop", "by workers"])
def test_one_that_fails_breaks_off(toy, edge, connect, caplog, fields):
    closed = threading.Event()
    toy.routes["/list"] = lambda _: answer(failing(), closed=closed)
    client = connect(edge)
    client.get("/list", *fields)
    client.head()

    rest = client.rest()

    assert not rest.endswith(b"0\r\n\r\n")
    assert closed.wait(30)
    assert "a stream's source failed" in caplog.text


def test_workers_are_only_a_little_ahead_of_their_client(toy, edge, connect):
    made, closed = [], threading.Event()
    piece, count = b"x" * 100_000, 500
    toy.routes["/list"] = lambda _: answer([piece] * count, slow=True, made=made, closed=closed)
    client = connect(edge)
    client.get("/list")
    client.head()
    before = -1
    while before != len(made):
        before = len(made)
        threading.Event().wait(0.2)

    assert AHEAD_BYTES // len(piece) <= before < count
    assert body(client) == piece * count
    assert closed.wait(30)


def test_the_loop_does_all_else_behind_each_piece(toy, edge, connect):
    turns, at = [0], []

    def pieces():
        for _ in range(50):
            at.append(turns[0])
            yield b"x" * 1000

    def turn():
        turns[0] += 1
        if len(at) < 50:
            edge.loop.asyncio.call_soon(turn)

    toy.routes["/list"] = lambda _: answer(pieces())
    edge.loop.post(turn)
    client = connect(edge)
    client.get("/list")
    client.head()

    assert len(body(client)) == 50_000
    assert len(set(at)) == 50


@pytest.mark.parametrize("slow", [False, True], ids=["on the loop", "by workers"])
def test_a_client_that_goes_away_lets_go_of_it(toy, edge, connect, slow):
    closed = threading.Event()
    toy.routes["/list"] = lambda _: answer([b"x" * 100_000] * 500, slow=slow, closed=closed)
    client = connect(edge)
    client.get("/list")
    client.head()
    client.close()

    assert closed.wait(30)


def test_a_server_that_closes_sends_it_to_its_end(toy, start, connect):
    edge = start()
    piece, count = b"x" * 100_000, 200
    toy.routes["/list"] = lambda _: answer([piece] * count)
    client = connect(edge)
    client.get("/list")
    client.head()
    closing = threading.Thread(target=edge.close, args=(30,))
    closing.start()

    assert body(client) == piece * count
    assert client.rest() == b""
    closing.join(30)
    assert not closing.is_alive()


def test_http_1_0_gets_it_bare_and_a_close(toy, edge, connect):
    toy.routes["/list"] = lambda _: answer()
    client = connect(edge)
    client.send("GET /list HTTP/1.0\r\n\r\n")

    assert client.rest().endswith(b"\r\n\r\n" + WHOLE)


def test_head_of_one_makes_none_of_it(toy, edge, connect):
    made, closed = [], threading.Event()
    toy.routes["/list"] = lambda _: answer(made=made, closed=closed)
    client = connect(edge)
    client.get("/list", method="HEAD")
    client.head()
    client.get("/next")

    assert client.answer()[2] == b"echo "
    assert closed.is_set()
    assert made == []


def test_a_websocket_handshake_is_answered_with_it_as_with_any_plain_answer(toy, edge, connect):
    toy.routes["/list"] = lambda _: answer()
    client = connect(edge)
    client.upgrade("/list")

    status, _ = client.head()

    assert status == 200
    assert body(client) == WHOLE


def test_it_can_be_had_as_a_whole():
    closed = threading.Event()

    whole = gathered(answer(closed=closed))

    assert (whole.status, whole.headers, whole.body) == (200, [("Content-Type", "application/json")], WHOLE)
    assert closed.is_set()


def test_an_end_is_told_once():
    told = []
    source = EndingSource(PieceSource(iter(())), lambda: told.append(1))

    source.close()
    source.close()

    assert told == [1]
