"""What a client sees of the HTTP edge."""

from __future__ import annotations

import gzip
import socket
import threading

import httpx
import orjson
import pytest
from hyperkube_lib.serving import closing
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Postponed, Response
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import EdgeLoop

from hyperkube.machinery.errors import UsageError


def test_a_request_arrives_with_path_query_headers_and_body(toy, edge):
    httpx.post(f"http://127.0.0.1:{edge.port}/a%20b?x=1&x=2", content=b"hello", headers={"X-Two": "1"})

    request = toy.seen[0]
    assert (request.method, request.path, request.raw_path) == ("POST", "/a b", "/a%20b")
    assert request.query() == {"x": ["1", "2"]}
    assert request.headers["x-two"] == "1"
    assert request.body == b"hello"
    assert request.peer[0] == "127.0.0.1"
    assert not request.secure


def test_repeated_headers_are_joined_with_a_comma(toy, edge, connect):
    client = connect(edge)
    client.get("/", "Accept: a", "Accept: b", "Cookie: c=1", "Cookie: d=2")
    client.answer()

    assert toy.seen[0].headers["accept"] == "a, b"
    assert toy.seen[0].headers["cookie"] == "c=1; d=2"


def test_pipelined_requests_are_answered_in_order(toy, edge, connect):
    toy.hot_routes["/hot"] = lambda request: Response(body=b"hot " + request.query_string.encode())
    toy.routes["/slow"] = lambda _: (threading.Event().wait(0.05), Response(body=b"slow"))[1]
    client = connect(edge)

    client.send(
        "GET /hot?1 HTTP/1.1\r\nHost: x\r\n\r\nGET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
        "GET /hot?2 HTTP/1.1\r\nHost: x\r\n\r\nPOST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
        "GET /hot?3 HTTP/1.1\r\nHost: x\r\n\r\n"
    )

    assert [client.answer()[2] for _ in range(5)] == [b"hot 1", b"slow", b"hot 2", b"echo ab", b"hot 3"]


def test_more_pipelined_requests_than_may_wait_are_all_answered(toy, edge, connect):
    client = connect(edge)
    client.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(200)))

    assert [client.answer()[0] for _ in range(200)] == [200] * 200
    assert [request.path for request in toy.seen] == [f"/{number}" for number in range(200)]


BROKEN = {
    "no request": (b"\x16\x03\x01\r\n\r\n", 400),
    "no host": (b"GET /last HTTP/1.1\r\n\r\n", 400),
    "a chunk without a size": (
        b"POST /last HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", 400
    ),
    "another version": (b"GET /last HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    "a coding that is none": (b"POST /last HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: odd\r\n\r\n", 501),
    "a long body": (b"POST /last HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413),
    "an upgrade": (
        b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400
    ),
    "a stream with a broken body": (
        b"POST /long HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n", 400
    ),
}  # fmt: skip


@pytest.mark.parametrize("apart", [False, True], ids=["in one piece", "later"])
@pytest.mark.parametrize("name", BROKEN)
def test_what_came_before_a_broken_request_is_answered_first(toy, edge, connect, monkeypatch, name, apart):
    monkeypatch.setattr(closing, "_LINGER", 0.05)
    piece, status = BROKEN[name]
    begun, go_on = threading.Event(), threading.Event()
    toy.long_running.add("/long")
    toy.routes["/slow"] = lambda _: (begun.set(), go_on.wait(60), Response(body=b"slow"))[2]
    toy.hot_routes["/hot"] = lambda _: Response(body=b"hot")
    client = connect(edge)
    whole = b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\nGET /hot HTTP/1.1\r\nHost: x\r\n\r\n"

    client.send(whole if apart else whole + piece)
    assert begun.wait(60)
    if apart:
        client.send(piece)
        client.send(b"GET /after HTTP/1.1\r\nHost: x\r\n\r\n")
    go_on.set()

    assert [client.answer()[2] for _ in range(2)] == [b"slow", b"hot"]
    refused, headers, _ = client.answer()
    assert (refused, headers["connection"]) == (status, "close")
    assert client.rest() == b""
    assert [request.path for request in toy.seen] == ["/slow"]


def test_a_request_may_come_byte_by_byte(toy, edge, connect):
    client = connect(edge)
    for byte in b"POST /x?y HTTP/1.1\r\nHost: toy\r\nContent-Length: 3\r\n\r\nabc":
        client.send(bytes((byte,)))

    assert client.answer()[2] == b"echo abc"


def test_head_gets_the_length_but_no_body(toy, edge, connect):
    toy.hot_routes["/hot"] = lambda _: Response(body=b"12345")
    client = connect(edge)
    client.get("/hot", method="HEAD")
    status, headers = client.head()
    client.get("/hot")

    assert (status, headers["content-length"]) == (200, "5")
    assert client.answer()[2] == b"12345"


def test_connection_close_is_honoured(edge, connect):
    client = connect(edge)
    client.get("/", "Connection: close")

    _, headers, body = client.answer()
    assert headers["connection"] == "close"
    assert body == b"echo "
    assert client.rest() == b""


def test_http_1_0_gets_an_answer_and_a_close(edge, connect):
    client = connect(edge)
    client.send("GET / HTTP/1.0\r\n\r\n")

    assert client.rest().endswith(b"echo ")


def test_a_client_that_only_stops_sending_still_gets_its_answers(edge, connect):
    client = connect(edge)
    client.get("/one")
    client.get("/two")
    client.sock.shutdown(socket.SHUT_WR)

    assert [client.answer()[0], client.answer()[0]] == [200, 200]
    assert client.rest() == b""


def test_an_upgrade_to_something_unknown_is_passed_over(edge, connect):
    client = connect(edge)
    for _ in range(2):
        client.get(
            "/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"
        )
        assert client.answer()[2] == b"echo "


def test_expect_100_continue_is_invited(edge, connect):
    client = connect(edge)
    client.get("/", "Content-Length: 2", "Expect: 100-continue", method="POST")
    assert client.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send("ok")

    assert client.answer()[2] == b"echo ok"


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_body_over_the_limit_is_refused(start, connect, framing):
    edge = start(limits=EdgeLimits(max_body=1000))
    client = connect(edge)
    if framing == "length":
        client.get("/", "Content-Length: 1001", method="POST")
    else:
        client.get("/", "Transfer-Encoding: chunked", method="POST")
        client.send(b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n")

    status, _, body = client.answer()
    assert status == 413
    assert orjson.loads(body)["message"] == "Request entity too large: limit is 1000"
    assert orjson.loads(body)["reason"] == "RequestEntityTooLarge"


def test_the_default_limit_is_three_mebibytes(edge, connect):
    client = connect(edge)
    client.get("/", "Content-Length: 3145729", method="PUT")

    assert b"limit is 3145728" in client.answer()[2]


def test_endless_headers_are_refused(start, connect):
    edge = start(limits=EdgeLimits(max_head=4096))
    client = connect(edge)
    client.send(b"GET / HTTP/1.1\r\nX: " + b"x" * 5000)

    assert client.answer()[0] == 431


def test_any_token_is_a_method(toy, edge, connect):
    toy.routes["/method"] = lambda request: Response(body=request.method.encode())
    client = connect(edge)
    answers = []

    for method in ("FOO", "GET", "B-R"):
        client.send(f"{method} /method HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answers.append(client.answer()[2])

    assert answers == [b"FOO", b"GET", b"B-R"]


def test_what_is_no_http_is_refused(edge, connect):
    client = connect(edge)
    client.send(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n")

    assert client.rest().startswith(b"HTTP/1.1 400 ")


def test_a_large_body_is_compressed_for_who_accepts_it(toy, edge, connect):
    toy.routes["/large"] = toy.hot_routes["/hot"] = lambda _: Response(body=b"x" * 200_000)
    client = connect(edge)
    for path in ("/large", "/hot"):
        client.get(path, "Accept-Encoding: gzip")
        _, headers, body = client.answer()
        assert headers["content-encoding"] == "gzip"
        assert headers["vary"] == "Accept-Encoding"
        assert gzip.decompress(body) == b"x" * 200_000
        client.get(path)
        assert "content-encoding" not in client.answer()[1]


def test_a_small_body_is_not_compressed(toy, edge, connect):
    toy.routes["/small"] = lambda _: Response(body=b"x" * 1000)
    client = connect(edge)
    client.get("/small", "Accept-Encoding: gzip")

    assert "content-encoding" not in client.answer()[1]


def test_answers_carry_a_date(edge, connect):
    client = connect(edge)
    client.get("/")

    assert client.answer()[1]["date"].endswith(" GMT")


def test_no_content_has_no_length(toy, edge, connect):
    toy.routes["/none"] = lambda _: Response(status=204)
    client = connect(edge)
    client.get("/none")

    assert "content-length" not in client.head()[1]


def test_a_line_break_in_a_header_cannot_smuggle_headers(toy, edge, connect, caplog):
    toy.routes["/x"] = lambda _: Response(status=302, headers=[("Location", "/\r\nSet-Cookie: a=b")])
    client = connect(edge)
    client.get("/x")

    status, headers, _ = client.answer()
    assert status == 500
    assert "set-cookie" not in headers


def test_a_handler_that_fails_is_an_internal_error(toy, edge, connect, caplog):
    def fail(_):
        raise KeyError("oops")

    toy.routes["/cold"] = toy.hot_routes["/hot"] = fail
    client = connect(edge)
    for path in ("/cold", "/hot"):
        client.get(path)
        status, _, body = client.answer()
        assert status == 500
        assert orjson.loads(body)["message"] == "Internal error occurred: KeyError('oops')"


def test_too_many_requests_in_flight_are_turned_away(toy, start, connect):
    gate = threading.Event()
    toy.routes["/wait"] = lambda _: (gate.wait(60), Response(body=b"done"))[1]
    edge = start(limits=EdgeLimits(workers=4, read_only_inflight=1, mutating_inflight=1))
    first, second, third = connect(edge), connect(edge), connect(edge)
    first.get("/wait")
    while not toy.seen:
        threading.Event().wait(0.001)

    second.get("/other")
    status, headers, body = second.answer()
    third.get("/other", method="DELETE")
    other_kind = third.answer()[0]
    gate.set()

    assert (status, headers["retry-after"], body) == (429, "1", b"Too many requests, please try again later.\n")
    assert other_kind == 200
    assert first.answer()[2] == b"done"
    second.get("/other")
    assert second.answer()[0] == 200


def test_a_full_queue_turns_requests_away(toy, start, connect):
    gate = threading.Event()
    toy.routes["/wait"] = lambda _: (gate.wait(60), Response())[1]
    edge = start(limits=EdgeLimits(workers=1, queue=1))
    clients = [connect(edge) for _ in range(3)]
    clients[0].get("/wait")
    while not toy.seen:
        threading.Event().wait(0.001)
    clients[1].get("/wait")
    threading.Event().wait(0.02)
    clients[2].get("/wait")

    assert clients[2].answer()[0] == 429
    gate.set()
    assert [client.answer()[0] for client in clients[:2]] == [200, 200]


def test_long_running_requests_do_not_count_as_in_flight(toy, start, connect):
    gate = threading.Event()
    toy.routes["/watch"] = lambda _: (gate.wait(60), Response())[1]
    toy.long_running.add("/watch")
    edge = start(limits=EdgeLimits(read_only_inflight=1))
    watcher, client = connect(edge), connect(edge)
    watcher.get("/watch")
    client.get("/x")

    assert client.answer()[0] == 200
    gate.set()


@pytest.mark.slow
def test_a_request_that_takes_too_long_times_out(toy, start, connect):
    gate = threading.Event()
    toy.routes["/wait"] = lambda _: (gate.wait(10), Response())[1]
    edge = start(limits=EdgeLimits(request_timeout=0.5))
    client = connect(edge)
    client.get("/wait")

    status, _, body = client.answer()
    gate.set()
    assert status == 504
    assert orjson.loads(body)["reason"] == "Timeout"
    client.get("/next")
    assert client.answer()[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("GET", "Timeout: request did not complete within the allotted timeout"),
        ("POST", "Timeout: request did not complete within requested timeout - context deadline exceeded"),
    ],
)
def test_a_client_shortens_its_own_time(toy, start, connect, method, message):
    gate = threading.Event()
    toy.routes["/wait"] = lambda _: (gate.wait(60), Response())[1]
    edge = start(limits=EdgeLimits(client_timeouts=True))
    client = connect(edge)
    client.send(f"{method} /wait?timeout=100ms HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())

    status, _, body = client.answer()
    gate.set()
    assert status == 504
    assert orjson.loads(body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }


@pytest.mark.slow
def test_an_idle_connection_is_closed(start, connect):
    edge = start(limits=EdgeLimits(idle_timeout=0.5))
    client = connect(edge)
    client.get("/")
    client.answer()

    assert client.rest() == b""


@pytest.mark.slow
def test_headers_that_never_end_are_given_up(start, connect):
    edge = start(limits=EdgeLimits(head_timeout=0.5))
    client = connect(edge)
    client.send("GET / HTTP/1.1\r\nHo")

    assert client.rest() == b""


def test_a_request_under_way_is_finished_when_the_edge_closes(toy, start, connect):
    gate = threading.Event()
    toy.routes["/wait"] = lambda _: (gate.wait(60), Response(body=b"finished"))[1]
    edge = start()
    idle, busy = connect(edge), connect(edge)
    idle.get("/")
    idle.answer()
    busy.get("/wait")
    while len(toy.seen) < 2:
        threading.Event().wait(0.001)
    threading.Timer(0.1, gate.set).start()

    edge.close(2.0)

    _, headers, body = busy.answer()
    assert body == b"finished"
    assert headers["connection"] == "close"
    assert idle.rest() == b""


def test_closing_does_not_wait_for_a_handler_that_hangs(toy, start, connect):
    gate = threading.Event()
    toy.routes["/hang"] = lambda _: (gate.wait(20), Response())[1]
    edge = start()
    client = connect(edge)
    client.get("/hang")
    while not toy.seen:
        threading.Event().wait(0.001)

    edge.close(0.1)

    assert client.rest() == b""
    gate.set()


def test_an_address_in_use_is_one_line(start):
    first = start()

    with pytest.raises(UsageError, match=rf"cannot listen on '127.0.0.1' port {first.port}: Address already in use"):
        start(port=first.port)


def test_a_port_that_is_none_is_one_line(toy):
    with pytest.raises(UsageError, match=r"^cannot listen on '127.0.0.1' port 70000: it must be between 0 and 65535$"):
        Edge(toy, port=70000).start()


def test_several_edges_share_one_loop(toy):
    loop = EdgeLoop()
    loop.start()
    before = threading.active_count()
    edges = [Edge(toy, loop=loop) for _ in range(3)]
    for edge in edges:
        edge.start()

    answers = [httpx.get(f"http://127.0.0.1:{edge.port}/").text for edge in edges]
    edges[0].close(0.2)
    still = httpx.get(f"http://127.0.0.1:{edges[1].port}/").text

    assert answers == ["echo "] * 3
    assert still == "echo "
    assert threading.active_count() <= before + 6
    for edge in edges[1:]:
        edge.close(0.2)
    loop.close()


def test_an_edge_can_be_closed_twice(toy):
    edge = Edge(toy)
    edge.start()
    edge.close()
    edge.close()

    assert edge.connections == 0


def test_vanished_clients_are_noticed_by_the_system(start):
    edge = start()
    listener = edge._server.sockets[0]

    assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_a_postponed_request_waits_without_a_thread(toy, connect):
    ready = []
    toy.routes["/later"] = lambda _: Postponed(wait=ready.append, proceed=lambda: Response(body=b"now"))
    edge = Edge(toy, port=0, limits=EdgeLimits(workers=1))
    edge.start()
    try:
        waiting, other = connect(edge), connect(edge)
        waiting.get("/later")
        other.get("/echo")
        assert other.answer()[0] == 200

        while not ready:
            threading.Event().wait(0.005)
        ready.pop()()

        assert waiting.answer()[2] == b"now"
    finally:
        edge.close(0)
