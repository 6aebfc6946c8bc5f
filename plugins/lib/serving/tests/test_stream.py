"""Bodies that grow: watches and followed logs."""

from __future__ import annotations

import asyncio
import gc
import resource
import ssl
import threading
import weakref

import pytest
from hyperkube_lib.serving.exchange import AllChunks, Response, StreamResponse
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_testing.peers.toy_server import EndlessSource, QueueSource
from leaving import with_goodbye, without_a_word

from hyperkube.testing.waiting import eventually


def test_pieces_arrive_as_they_come(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(headers=[("Content-Type", "application/json")], source=source)
    client = connect(edge)
    client.get("/watch")
    status, headers = client.head()

    source.put(b"one\n")
    first = client.chunk()
    source.put(b"two\n", b"three\n")
    second = client.chunk()
    source.end()

    assert (status, headers["transfer-encoding"]) == (200, "chunked")
    assert (first, second) == (b"one\n", b"two\nthree\n")
    assert client.chunk() == b""
    assert source.closed.wait(30)


@pytest.mark.parametrize(("kind", "drains"), [(list, 2), (AllChunks, 1)], ids=["perhaps more", "all"])
def test_a_source_that_says_that_this_was_all_is_asked_once(toy, edge, connect, source, kind, drains):
    asked = []
    inner = source.drain

    def drain():
        chunks = inner()
        asked.append(chunks)
        return kind(chunks) if chunks else chunks

    source.drain = drain
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch")
    client.head()
    edge.loop.run(asyncio.sleep(0.01))
    before = len(asked)
    source.put(b"one\n")
    client.chunk()
    edge.loop.run(asyncio.sleep(0.01))
    first = len(asked) - before
    source.put(b"two\n")

    assert client.chunk() == b"two\n"
    assert first == drains


def test_the_connection_can_be_used_again_after_a_stream(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch")
    client.get("/next")
    client.head()
    source.end()

    assert client.chunk() == b""
    assert client.answer()[2] == b"echo "


def test_the_source_is_closed_when_the_client_goes_away(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch")
    client.head()
    client.close()

    assert source.closed.wait(30)


@pytest.fixture
def no_collections():
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("leaves", [False, True], ids=["at its end", "when the client leaves"])
def test_a_body_goes_without_the_collector_of_garbage(toy, edge, connect, no_collections, leaves):
    sources = []

    def answer(_):
        source = QueueSource()
        sources.append(weakref.ref(source))
        source.put(b"one\n")
        return StreamResponse(source=source)

    toy.routes["/watch"] = answer
    client = connect(edge)
    client.get("/watch")
    client.head()
    client.chunk()
    if leaves:
        client.sock.close()
    else:
        sources[0]().end()
        client.chunk()

    assert eventually(lambda: sources[0]() is None, 30)


@pytest.mark.parametrize("leave", [without_a_word, with_goodbye])
def test_nothing_more_is_written_when_a_client_has_ended_tls(toy, start, connect, pki, caplog, leave):
    source = EndlessSource(b"x" * 100)
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(start(tls=pki.server_tls()), ssl.create_default_context(cafile=pki.ca_file))
    client.get("/watch")
    client.head()
    client.exactly(100_000)

    leave(client.sock)

    assert source.closed.wait(30)
    assert [record.message for record in caplog.records] == []


def test_head_of_a_stream_closes_the_source(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch", method="HEAD")
    client.head()
    client.get("/next")

    assert client.answer()[2] == b"echo "
    assert source.closed.is_set()


def test_http_1_0_gets_the_body_bare_and_a_close(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    source.put(b"all of it")
    source.end()
    client = connect(edge)
    client.send("GET /watch HTTP/1.0\r\n\r\n")

    assert client.rest().endswith(b"\r\n\r\nall of it")


def test_a_source_that_fails_breaks_the_body_off(toy, edge, connect, source, caplog):
    def fail():
        raise RuntimeError("broken")

    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    source.drain = fail
    client = connect(edge)
    client.get("/watch")
    client.head()

    assert client.rest() == b""
    assert source.closed.wait(30)


def test_a_slow_client_holds_its_source_back(toy, edge, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch")
    client.head()

    total = 0
    for _ in range(200):
        source.put(b"x" * 50_000)
        total += 50_000
        threading.Event().wait(0.0005)
    threading.Event().wait(0.1)
    held = sum(map(len, source.pieces))
    received = 0
    while received < total:
        received += len(client.chunk())

    assert held > 0
    assert received == total


@pytest.mark.slow
def test_a_client_that_reads_nothing_is_cut_off(toy, start, connect, source):
    edge = start(limits=EdgeLimits(stall_timeout=1.0))
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = connect(edge)
    client.get("/watch")
    client.head()
    for _ in range(200):
        source.put(b"x" * 100_000)
        threading.Event().wait(0.001)

    assert source.closed.wait(60)


def test_streams_end_when_the_edge_closes(toy, start, connect, source):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    edge = start()
    client = connect(edge)
    client.get("/watch")
    client.head()
    source.put(b"last\n")
    client.chunk()

    edge.close(1.0)

    assert client.chunk() == b""
    assert client.rest() == b""
    assert source.closed.is_set()


@pytest.mark.slow
def test_two_thousand_streams_are_served_by_one_thread(toy, edge, connect, new_source):
    threads_before = threading.active_count()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4500:
        pytest.skip("too few file descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4500), hard))
    sources = []

    def watch(_):
        source = new_source()
        sources.append(source)
        return StreamResponse(source=source)

    toy.routes["/watch"] = watch
    clients = [connect(edge) for _ in range(2000)]
    for client in clients:
        client.get("/watch")
    for client in clients:
        assert client.head()[0] == 200
    threads = threading.active_count()

    for number in range(3):
        for source in sources:
            source.put(b"event %d\n" % number)

    for client in clients:
        seen = b""
        while seen.count(b"\n") < 3:
            seen += client.chunk()
        assert seen == b"event 0\nevent 1\nevent 2\n"
    assert threads - threads_before < 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_watch_over_websocket_is_one_message_per_chunk(toy, edge, source, ws):
    toy.routes["/watch"] = lambda _: StreamResponse(source=source)
    client = ws(edge, "/watch")

    source.put(b'{"type":"ADDED"}\n', b'{"type":"DELETED"}\n')
    messages = [client.recv(), client.recv()]
    source.end()

    assert messages == ['{"type":"ADDED"}\n', '{"type":"DELETED"}\n']
    assert client.recv() == ""
    assert source.closed.wait(30)


def test_a_websocket_request_may_be_answered_plainly(toy, edge, connect):
    toy.routes["/watch"] = lambda _: Response(status=403, body=b"no")
    client = connect(edge)
    client.upgrade("/watch")

    assert client.answer()[::2] == (403, b"no")
