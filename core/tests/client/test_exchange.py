"""One request and its answer, byte by byte."""

import contextlib
import http.client
import socket
import threading

import pytest

from hyperkube.client import exchange as exchange_module
from hyperkube.client.exchange import Bounds, Broken, exchange, read_body


@pytest.fixture
def answering():
    """Return a function that serves fixed pieces to one connection, then closes it if told so."""
    sockets, threads = [], []

    def serve(*pieces, close=False):
        listener = socket.create_server(("127.0.0.1", 0))
        sockets.append(listener)
        asked = []

        def run():
            try:
                peer, _ = listener.accept()
            except OSError:  # closed already: a test may end without a request
                return
            sockets.append(peer)
            asked.append(peer.recv(1 << 16))
            with contextlib.suppress(OSError):  # a client goes when it has had too much
                for piece in pieces:
                    peer.sendall(piece)
                if close:
                    peer.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        threads.append(thread)
        connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=30)
        sockets.append(connection)
        return connection, asked

    yield serve
    for each in [*sockets]:
        if isinstance(each, socket.socket):  # wakes a thread that still waits for it
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join(10)
    for each in sockets:
        each.close()


def test_head_and_body_go_in_one_piece(answering):
    connection, asked = answering(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-A: b\r\n\r\n{}")

    answer, reusable = exchange(connection, "POST", "/api?x=1", {"Accept": "a/b"}, b"body")

    host = f"127.0.0.1:{connection.port}"
    expected = f"POST /api?x=1 HTTP/1.1\r\nHost: {host}\r\nAccept: a/b\r\nContent-Length: 4\r\n\r\nbody"
    assert asked == [expected.encode()]
    assert (answer.status, answer.body, dict(answer.headers)) == (201, b"{}", {"Content-Length": "2", "X-A": "b"})
    assert reusable


@pytest.mark.parametrize("pieces", [
    pytest.param([b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 4\r\n\r\nab", b"cd"], id="torn"),
    pytest.param([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", b"2\r\ncd\r\n0\r\n\r\n"], id="chunks"),
    pytest.param([b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", b"abcd"], id="continue"),
])  # fmt: skip
def test_an_answer_comes_together(answering, pieces):
    connection, _ = answering(*pieces)

    answer, reusable = exchange(connection, "GET", "/", {}, b"")

    assert (answer.status, answer.body, reusable) == (200, b"abcd", True)


def test_an_answer_without_a_length_ends_with_the_connection(answering):
    connection, _ = answering(b"HTTP/1.1 200 OK\r\n\r\nab", b"cd", close=True)

    answer, reusable = exchange(connection, "GET", "/", {}, b"")

    assert (answer.body, reusable) == (b"abcd", False)


def test_a_server_that_wants_to_close_is_not_asked_again(answering):
    connection, _ = answering(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    assert exchange(connection, "GET", "/", {}, b"")[1] is False


@pytest.mark.parametrize(("method", "head"), [
    pytest.param("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", id="head"),
    pytest.param("GET", b"HTTP/1.1 204 No Content\r\n\r\n", id="no content"),
])  # fmt: skip
def test_nothing_is_waited_for_where_no_body_comes(answering, method, head):
    connection, _ = answering(head)

    assert exchange(connection, method, "/", {}, b"")[0].body == b""


@pytest.mark.parametrize("piece", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"], ids=["at once", "midway"])
def test_a_lost_connection_is_told(answering, piece):
    connection, _ = answering(piece, close=True)

    with pytest.raises(Broken):
        exchange(connection, "GET", "/", {}, b"")


def test_what_is_no_http_is_told(answering):
    connection, _ = answering(b"SSH-2.0-x\r\n")

    with pytest.raises(ValueError, match="no HTTP"):
        exchange(connection, "GET", "/", {}, b"")


def test_a_header_cannot_smuggle_another(answering):
    connection, _ = answering()

    with pytest.raises(ValueError, match="line break"):
        exchange(connection, "GET", "/", {"Authorization": "Bearer x\nX-Other: y"}, b"")


@pytest.mark.parametrize("pieces", [
    pytest.param([b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n", b"x" * 1200], id="body"),
    pytest.param([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 1200], id="chunk extension"),
    pytest.param([b"HTTP/1.1 200 OK\r\nX: ", b"x" * 1200], id="header"),
    pytest.param([b"HTTP/1.1 100 Continue\r\n\r\n" * 60], id="announcements"),
])  # fmt: skip
def test_an_answer_is_read_up_to_its_bound(answering, pieces):
    connection, _ = answering(*pieces)

    with pytest.raises(ValueError, match="longer than 1000 bytes"):
        exchange(connection, "GET", "/", {}, b"", Bounds(size=1000))


def test_a_head_has_a_bound_of_its_own(answering, monkeypatch):
    monkeypatch.setattr(exchange_module, "HEAD_BYTES", 1000)
    connection, _ = answering(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200)

    with pytest.raises(ValueError, match="longer than 1000 bytes"):
        exchange(connection, "GET", "/", {}, b"")


def test_a_server_that_drips_is_given_up(answering):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
    connection, _ = answering(head, b"a", b"b")

    with pytest.raises(TimeoutError, match="not come within 0 s"):
        exchange(connection, "GET", "/", {}, b"", Bounds(seconds=0))


@pytest.mark.parametrize(("bounds", "why"), [(Bounds(size=5), "longer than 5 bytes"), (Bounds(seconds=2), "within 2 s")],
                         ids=["size", "seconds"])  # fmt: skip
def test_a_body_without_an_end_is_read_up_to_its_bounds(bounds, why):
    ticks = iter(range(100))

    with pytest.raises(OSError, match=why):
        read_body(lambda _: b"x", bounds, lambda: next(ticks))
