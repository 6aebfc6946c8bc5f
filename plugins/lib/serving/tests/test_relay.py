"""Requests passed on to another server."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
import time

import orjson
import pytest
from hyperkube_lib.serving.exchange import ExecUpgrade, Passed, RelayUpgrade, Response, StreamResponse
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.wire import plain
from hyperkube_testing.peers.ports import refusing_port

from hyperkube.testing.waiting import eventually


@pytest.fixture
def relayed(toy, edge, new_toy, start):
    """An edge that relays all it gets to a second one; returns both edges and the second one's handler."""
    far = new_toy()
    far_edge = start(far, limits=EdgeLimits(workers=8))

    def forward(request):
        query = f"?{request.query_string}" if request.query_string else ""
        return RelayUpgrade(host="127.0.0.1", port=far_edge.port, path=request.raw_path + query, tls=False)

    for path in ("/log", "/echo", "/exec", "/upload", "/missing", "/big", "/none"):
        toy.routes[path] = forward
        toy.long_running.add(path)
    return far


def test_a_plain_answer_is_passed_back_and_the_connection_kept(relayed, edge, connect):
    relayed.routes["/echo"] = lambda request: Response(
        status=201, headers=[("X-Far", "1"), ("Content-Type", "a/b")], body=request.body + request.query_string.encode()
    )
    client = connect(edge)
    for _ in range(2):
        client.get("/echo?q=1", "Content-Length: 3", method="POST")
        client.send("abc")
        status, headers, body = client.answer()
        assert (status, headers["x-far"], headers["content-type"], body) == (201, "1", "a/b", b"abcq=1")


def test_credentials_stay_here_and_other_headers_go(relayed, edge, connect):
    client = connect(edge)
    client.get("/echo", "Authorization: Bearer secret", "X-Mine: 1", "Proxy-Connection: x", "Impersonate-User: bob")
    client.answer()

    headers = relayed.seen[0].headers
    assert headers["x-mine"] == "1"
    assert "authorization" not in headers
    assert "impersonate-user" not in headers
    assert "proxy-connection" not in headers


def test_a_followed_log_streams_through(relayed, edge, connect, source):
    relayed.routes["/log"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/log")
    client.head()

    source.put(b"line 1\n")
    assert client.chunk() == b"line 1\n"
    source.put(b"line 2\n")
    assert client.chunk() == b"line 2\n"
    source.end()
    assert client.chunk() == b""


def test_the_far_source_is_closed_when_the_client_goes_away(relayed, edge, connect, source):
    relayed.routes["/log"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/log")
    client.head()
    client.close()

    assert source.closed.wait(30)


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_an_upload_over_the_body_limit_streams_through(toy, edge, connect, framing):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.long_running.add("/x")
    toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    block = b"x" * 65536
    client = connect(edge)

    def upload():
        for _ in range(80):
            client.send(b"10000\r\n" + block + b"\r\n" if framing == "chunked" else block)
        if framing == "chunked":
            client.send(b"0\r\n\r\n")

    header = "Transfer-Encoding: chunked" if framing == "chunked" else f"Content-Length: {len(block) * 80}"
    client.get("/x", header, method="PUT")
    sender = threading.Thread(target=upload)
    sender.start()
    far, _ = listener.accept()
    received = bytearray()
    while received.count(b"x") < 80 * 65536 or (framing == "chunked" and not received.endswith(b"0\r\n\r\n")):
        received += far.recv(1 << 20)
    far.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ngot it")
    sender.join()
    far.close()
    listener.close()

    assert header.encode() in received
    assert client.answer()[::2] == (200, b"got it")


def test_a_large_download_waits_for_a_slow_client(relayed, edge, connect):
    relayed.routes["/big"] = lambda _: Response(body=b"z" * 20_000_000)
    client = connect(edge)
    client.get("/big")
    status, headers = client.head()
    threading.Event().wait(0.2)
    total = len(client.buffer)
    client.buffer = b""
    while total < 20_000_000:
        total += len(client.sock.recv(1 << 20))

    assert (status, headers["content-length"], total) == (200, "20000000", 20_000_000)


def test_an_upgrade_passes_bytes_both_ways(relayed, edge, ws):
    def serve(channels):
        while data := channels.read(0):
            channels.write(1, data.upper())

    relayed.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True)
    client = ws(edge, "/exec", "base64url.bearer.authorization.k8s.io.c2VjcmV0", "v5.channel.k8s.io")
    assert client.getsubprotocol() == "v5.channel.k8s.io"
    assert client.recv() == b"\x01"
    client.send_binary(b"\x00through")

    assert client.recv() == b"\x01THROUGH"
    assert relayed.seen[0].headers["sec-websocket-protocol"] == "v5.channel.k8s.io"
    client.send_binary(b"\xff\x00")
    assert client.recv() == ""


def test_an_upgraded_connection_carries_no_more_than_its_rate(toy, start, connect):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    client = connect(start(limits=EdgeLimits(stream_rate=400_000)))
    client.get("/x", "Connection: Upgrade", "Upgrade: SPDY/3.1", method="POST")
    far, _ = listener.accept()
    far.recv(65536)
    far.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
    client.head()
    began = time.monotonic()
    sender = threading.Thread(target=far.sendall, args=(bytes(400_000),))
    sender.start()

    client.exactly(400_000)

    sender.join()
    far.close()
    listener.close()
    assert time.monotonic() - began > 0.2  # the last piece need not be waited for


@pytest.mark.slow
def test_an_upgraded_connection_that_carries_nothing_is_closed(toy, start, ws):
    ended = threading.Event()

    def serve(channels):
        while data := channels.read(0):
            channels.write(1, data)
        ended.set()

    toy.routes["/exec"] = lambda _: ExecUpgrade(serve=serve, stdin=True)
    client = ws(start(limits=EdgeLimits(stream_idle_timeout=2.0)), "/exec", "v5.channel.k8s.io")
    client.recv()
    began = time.monotonic()
    for _ in range(4):  # what carries something now and then stays
        time.sleep(1.0)
        client.send_binary(b"\x00still here")
        assert client.recv() == b"\x01still here"

    assert client.recv() == ""
    assert time.monotonic() - began > 5.0
    assert ended.wait(10)


@pytest.mark.slow
def test_a_relayed_connection_that_carries_nothing_is_closed_on_both_sides(toy, start, connect):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    client = connect(start(limits=EdgeLimits(stream_idle_timeout=1.0)))
    client.get("/x", "Connection: Upgrade", "Upgrade: SPDY/3.1", method="POST")
    far, _ = listener.accept()
    far.settimeout(30)
    far.recv(65536)
    far.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
    client.head()

    assert client.rest() == b""
    assert far.recv(1) == b""
    far.close()
    listener.close()


def test_stream_versions_arrive_as_lines_of_their_own(toy, edge, connect):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/exec"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    client = connect(edge)
    client.get(
        "/exec",
        "Connection: Upgrade",
        "Upgrade: SPDY/3.1",
        "X-Stream-Protocol-Version: v4.channel.k8s.io",
        "X-Stream-Protocol-Version: v3.channel.k8s.io",
        method="POST",
    )
    far, _ = listener.accept()
    request = far.recv(65536).decode()
    far.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nearly")
    status, _ = client.head()
    first = client.exactly(5)
    far.close()
    listener.close()

    assert request.startswith("POST /x HTTP/1.1\r\n")
    assert "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nX-Stream-Protocol-Version: v3.channel.k8s.io\r\n" in request
    assert (status, first) == (101, b"early")
    assert client.rest() == b""


def test_a_refused_upgrade_leaves_no_way_to_the_far_server(relayed, edge, connect):
    relayed.routes["/exec"] = lambda _: plain(403, "no")
    client = connect(edge)
    client.upgrade("/exec", "v5.channel.k8s.io")

    status, headers, body = client.answer()
    assert (status, body, headers["connection"]) == (403, b"no\n", "close")
    assert client.rest() == b""


def test_a_refusal_can_be_turned_into_another_answer(toy, edge, new_toy, start, connect):
    far = new_toy()
    far_edge = start(far)
    far.routes["/log"] = lambda _: plain(400, "container not found")
    toy.routes["/log"] = lambda _: RelayUpgrade(
        host="127.0.0.1",
        port=far_edge.port,
        path="/log",
        tls=False,
        refusal=lambda status, body: Response(status=status, body=b"far: " + body),
    )
    client = connect(edge)
    client.get("/log")

    assert client.answer()[::2] == (400, b"far: container not found\n")
    client.get("/next")
    assert client.answer()[0] == 200


@pytest.mark.parametrize(
    ("upgrade", "code", "message"),
    [(True, 500, "error dialing backend"), (False, 503, "error trying to reach service")],
    ids=["upgrade", "plain"],
)
def test_a_server_that_cannot_be_reached_is_named(toy, edge, connect, upgrade, code, message):
    with refusing_port() as port:
        toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=port, path="/x", tls=False)
        client = connect(edge)
        if upgrade:
            client.upgrade("/x")
        else:
            client.get("/x")
        status, _, body = client.answer()

    assert status == code
    assert orjson.loads(body)["message"] == f"{message}: dial tcp 127.0.0.1:{port}: connect: connection refused"


@pytest.mark.parametrize("more", [{}, {"redirects": False}], ids=["passed on", "refused"])
def test_the_status_that_the_client_gets_is_told(toy, edge, new_toy, start, connect, ws, more):
    far, told = new_toy(), []
    far_edge = start(far)
    far.routes["/exec"] = lambda _: ExecUpgrade(serve=lambda channels: channels.read(0), stdin=True)
    far.routes["/moved"] = lambda _: Response(status=301, headers=[("Location", "/")])

    def forward(request):
        return RelayUpgrade(
            host="127.0.0.1", port=far_edge.port, path=request.raw_path, tls=False, counted=told.append, **more
        )

    toy.routes.update(dict.fromkeys(("/moved", "/next", "/exec"), forward))
    client = connect(edge)
    for path in ("/next", "/moved"):
        client.get(path)
        client.answer()
    with refusing_port() as port:
        toy.routes["/x"] = lambda _: RelayUpgrade(
            host="127.0.0.1", port=port, path="/x", tls=False, counted=told.append
        )
        client.get("/x")
        client.answer()
    ws(edge, "/exec", "v5.channel.k8s.io").recv()

    assert told == [200, 502 if more else 301, 503, 101]


def test_a_far_answer_that_breaks_off_is_broken_here_too(toy, edge, connect):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    client = connect(edge)
    client.get("/x")
    far, _ = listener.accept()
    far.recv(65536)
    far.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
    far.close()
    listener.close()

    assert client.head()[0] == 200
    assert client.rest() == b"half"


def test_a_body_until_the_close_becomes_chunks(toy, edge, connect):
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/x"] = lambda _: RelayUpgrade(host="127.0.0.1", port=listener.getsockname()[1], path="/x", tls=False)
    client = connect(edge)
    client.get("/x")
    far, _ = listener.accept()
    far.recv(65536)
    far.sendall(b"HTTP/1.1 200 OK\r\n\r\nwhole")
    far.close()
    listener.close()

    assert client.head()[1]["transfer-encoding"] == "chunked"
    assert (client.chunk(), client.chunk()) == (b"whole", b"")


def test_what_dials_may_block_and_a_connection_that_comes_too_late_is_closed(toy, edge, new_toy, start, connect):
    far = new_toy()
    far.routes["/echo"] = lambda _: Response(status=200, body=b"far")
    far_edge = start(far)
    go, dialled = threading.Event(), []

    def dial(host, port):
        if host == "slow":
            go.wait(10)
        dialled.append(socket.create_connection(("127.0.0.1", far_edge.port)))
        return dialled[-1]

    for path, host, seconds in (("/echo", "10.0.0.1", 10.0), ("/slow", "slow", 0.05)):
        toy.routes[path] = lambda _, host=host, seconds=seconds: RelayUpgrade(
            host=host, port=80, path="/echo", tls=False, dial=dial, connect_seconds=seconds
        )
        toy.long_running.add(path)
    client = connect(edge)
    client.get("/echo")
    assert client.answer()[2] == b"far"

    client.get("/slow")
    status, _, body = client.answer()
    go.set()
    eventually(lambda: len(dialled) == 2 and dialled[1].fileno() == -1, why="the late connection is closed")

    assert status == 503
    assert b"dial tcp slow:80: i/o timeout" in body


@pytest.mark.parametrize(("path", "method"), [("/echo", "HEAD"), ("/none", "GET")])
def test_answers_without_a_body_end_at_once(relayed, edge, connect, path, method):
    relayed.routes["/none"] = lambda _: Response(status=204)
    client = connect(edge)
    for _ in range(2):
        client.get(path, method=method)
        assert client.head()[0] in {200, 204}


def test_the_far_server_is_spoken_to_with_a_client_certificate(toy, edge, new_toy, start, connect, pki):
    far = new_toy()
    far_edge = start(far, tls=pki.server_tls())
    cert, key = pki.issue("kube-apiserver-kubelet-client", client=True)
    toy.routes["/x"] = lambda _: RelayUpgrade(
        host="127.0.0.1", port=far_edge.port, path="/x", ca_file=pki.ca_file, certificate_file=cert, key_file=key
    )
    client = connect(edge)
    client.get("/x")

    assert client.answer()[0] == 200
    assert far.seen[0].certificate


def test_a_far_server_that_does_not_close_is_left_when_the_edge_ends(toy, start, connect, pki, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    tls = pki.server_tls()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.cert_file, tls.key_file)
    listener = socket.create_server(("127.0.0.1", 0))
    toy.routes["/x"] = lambda _: RelayUpgrade(
        host="127.0.0.1", port=listener.getsockname()[1], path="/x", ca_file=pki.ca_file
    )
    edge = start()
    client = connect(edge)
    client.get("/x")
    raw, _ = listener.accept()
    far = context.wrap_socket(raw, server_side=True)
    far.recv(65536)
    far.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nfar")
    assert client.answer()[2] == b"far"

    edge.close(0.2)

    assert edge._service.relays == set()
    assert lost == []
    far.close()
    listener.close()


def test_a_far_certificate_that_is_not_trusted_is_refused(toy, edge, new_toy, start, connect, pki, tmp_path):
    from hyperkube_lib.serving import certificates

    far_edge = start(new_toy(), tls=pki.server_tls())
    certificates.write_public(tmp_path / "other.crt", certificates.make_ca("other").certificate)
    toy.routes["/x"] = lambda _: RelayUpgrade(
        host="127.0.0.1", port=far_edge.port, path="/x", ca_file=str(tmp_path / "other.crt")
    )
    client = connect(edge)
    client.get("/x")

    status, _, body = client.answer()
    assert status == 503
    assert b"certificate verify failed" in body


@pytest.mark.parametrize(("method", "body"), [("GET", b"<FAR ANSWER>"), ("HEAD", b"")])
def test_an_answer_can_be_rewritten_on_its_way(toy, edge, new_toy, start, connect, method, body):
    far = new_toy()
    far_edge = start(far)
    far.routes["/page"] = lambda _: Response(headers=[("X-Far", "1"), ("X-Kept", "2")], body=b"far answer")

    def rewrite(piece):
        return b"<" + piece.upper() if piece else b">"

    def answered(headers):
        return Passed([pair for pair in headers if pair[0].lower() != "x-far"], rewrite)

    toy.long_running.add("/page")
    toy.routes["/page"] = lambda _: RelayUpgrade(
        host="127.0.0.1", port=far_edge.port, path="/page", tls=False, answered=answered
    )
    client = connect(edge)

    for _ in range(2):
        client.get("/page", method=method)
        status, headers = client.head()
        received = b"".join(iter(client.chunk, b"")) if method == "GET" else b""

        assert (status, headers.get("x-far"), headers["x-kept"], received) == (200, None, "2", body)


def offer_messages(toy, far_edge):
    toy.long_running.add("/log")
    toy.routes["/log"] = lambda _: RelayUpgrade(
        host="127.0.0.1", port=far_edge.port, path="/log", tls=False, refusal=lambda code, body: plain(code, body.decode()),
        websocket_protocols=("binary.k8s.io", "base64.binary.k8s.io"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("protocols", "message"),
    [
        pytest.param([], b"line\xff\n", id="none-offered"),
        pytest.param(["binary.k8s.io"], b"line\xff\n", id="binary"),
        pytest.param(["base64.binary.k8s.io"], "bGluZf8K", id="base64"),
    ],
)
def test_a_plain_answer_comes_as_messages(toy, edge, new_toy, start, ws, source, protocols, message):
    far = new_toy()
    far.routes["/log"] = lambda _: StreamResponse(source=source)
    offer_messages(toy, start(far))

    client = ws(edge, "/log", *protocols)
    assert client.getsubprotocol() == (protocols[0] if protocols else None)
    assert client.recv() in {"", b""}
    source.put(b"line\xff\n")
    assert client.recv() == message
    source.end()
    assert client.recv() == ""

    assert not any(name.startswith(("sec-websocket-", "upgrade")) for name in far.seen[0].headers)


def test_the_far_source_is_closed_when_a_reader_of_messages_goes_away(toy, edge, new_toy, start, ws, source):
    far = new_toy()
    far.routes["/log"] = lambda _: StreamResponse(source=source)
    offer_messages(toy, start(far))
    client = ws(edge, "/log")
    client.recv()

    client.shutdown()

    assert source.closed.wait(30)


def test_a_refusal_is_no_message(toy, edge, new_toy, start, ws):
    far = new_toy()
    far.routes["/log"] = lambda _: plain(404, "no such container")
    offer_messages(toy, start(far))

    with pytest.raises(Exception, match="404"):
        ws(edge, "/log")
