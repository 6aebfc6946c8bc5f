"""Watches of a client share a connection, where the server speaks HTTP/2."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import orjson
import pytest
from hyperkube_lib.http2 import watch_streams
from hyperkube_lib.http2.serving import Http2Serving
from hyperkube_lib.http2.watch_streams import Http2Streams, StreamWatch
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.tls import TlsFiles

from hyperkube.client.client import QuietWatch, Watch, WatchEvent
from hyperkube.client.http import HttpClient
from hyperkube.client.http_watch import HttpWatch
from hyperkube.client.informer import InformerFactory
from hyperkube.machinery.errors import Expired
from hyperkube.machinery.groups import GroupVersionResource

if TYPE_CHECKING:
    from hyperkube_testing.peers.toy_server import QueueSource, Toy

Start = Callable[..., Edge]
PODS = GroupVersionResource("", "v1", "pods")
PATH = "/api/v1/pods"
EVENT = orjson.dumps({"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "5"}}}) + b"\n"


@pytest.fixture
def sources(toy: Toy, new_source: type[QueueSource]) -> list[QueueSource]:
    """What the watches of pods are fed by, in the order in which they were begun."""
    found: list[QueueSource] = []

    def watch(_: HttpRequest) -> StreamResponse:
        found.append(new_source())
        return StreamResponse(source=found[-1])

    toy.routes[PATH] = watch
    toy.long_running.add(PATH)
    return found


@pytest.fixture
def client_of() -> Iterator[Callable[[Edge], HttpClient]]:
    clients: list[HttpClient] = []

    def begin(edge: Edge) -> HttpClient:
        clients.append(HttpClient(f"https://127.0.0.1:{edge.port}", insecure=True, token="t", streams=Http2Streams))
        return clients[-1]

    yield begin
    for client in clients:
        client.close()


def first(watch: Watch) -> WatchEvent:
    return next(iter(watch))


def rung(watch: Watch) -> tuple[QuietWatch, threading.Event]:
    """Return a watch that is looked at in passing, and what is set when it rings."""
    bell = threading.Event()
    quiet: QuietWatch = watch  # type: ignore[assignment]  the client's are quiet
    quiet.connect(bell.set)
    return quiet, bell


def test_watches_share_one_connection(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = start()
    client = client_of(edge)

    watches = [client.watch(PODS) for _ in range(14)]

    assert all(isinstance(watch, StreamWatch) for watch in watches)
    assert edge.connections == 1
    for source in sources:
        source.put(EVENT)
    assert [first(watch).object["metadata"]["name"] for watch in watches] == ["a"] * 14
    for watch in watches:
        watch.close()


def test_requests_stay_on_http_1_1(
    start: Start, client_of: Callable[[Edge], HttpClient], toy: Toy, sources: list[QueueSource]
) -> None:
    edge = start()
    client = client_of(edge)
    watch = client.watch(PODS)

    client.request("GET", "/version")

    assert edge.connections == 2
    assert "authorization" in toy.seen[0].headers
    assert toy.seen[0].query_string == "watch=true&allowWatchBookmarks=true"
    watch.close()


def test_a_server_of_http_1_1_is_watched_as_before(
    toy: Toy, tls: TlsFiles, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = Edge(toy, tls=tls)
    edge.start()
    client = client_of(edge)

    watches = [client.watch(PODS) for _ in range(2)]
    sources[0].put(EVENT)

    assert [type(watch) for watch in watches] == [HttpWatch, HttpWatch]
    assert first(watches[0]).type == "ADDED"
    watches[1].close()
    assert not list(watches[1])
    edge.close(0.2)


def test_plain_http_is_watched_as_before(toy: Toy, sources: list[QueueSource]) -> None:
    edge = Edge(toy)
    edge.start()
    client = HttpClient(f"http://127.0.0.1:{edge.port}", streams=Http2Streams)

    watch = client.watch(PODS)

    assert type(watch) is HttpWatch
    watch.close()
    assert not list(watch)
    client.close()
    edge.close(0.2)


def test_a_look_in_passing_brings_what_there_is(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    watch, bell = rung(client_of(start()).watch(PODS))
    assert bell.is_set()
    bell.clear()
    assert not watch.take().events

    sources[0].put(EVENT, EVENT)

    assert bell.wait(5)
    assert len(watch.take().events) == 2
    bell.clear()
    sources[0].end()
    assert bell.wait(5)
    assert watch.take().ended
    watch.close()


def test_an_event_in_two_pieces_is_one(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    watch, bell = rung(client_of(start()).watch(PODS))
    bell.clear()

    sources[0].put(EVENT[:20])
    assert bell.wait(5)
    assert not watch.take().events
    bell.clear()
    sources[0].put(EVENT[20:])
    assert bell.wait(5)

    assert [event.type for event in watch.take().events] == ["ADDED"]
    watch.close()


def test_a_refusal_is_the_api_s_error(start: Start, client_of: Callable[[Edge], HttpClient], toy: Toy) -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    toy.routes[PATH] = lambda _: Response(status=410, body=orjson.dumps(status))
    edge = start()

    with pytest.raises(Expired, match="too old resource version"):
        client_of(edge).watch(PODS)


def test_a_closed_watch_is_let_go_and_with_the_last_one_the_connection(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = start()
    client = client_of(edge)
    first_watch, second_watch = client.watch(PODS), client.watch(PODS)

    first_watch.close()
    assert sources[0].closed.wait(5)
    assert not sources[1].closed.is_set()
    second_watch.close()

    assert sources[1].closed.wait(5)
    third = client.watch(PODS)
    sources[2].put(EVENT)
    assert first(third).type == "ADDED"


def test_closing_wakes_who_waits(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    client = client_of(start())
    watch, other = client.watch(PODS), client.watch(PODS)
    seen: list[WatchEvent] = []
    reader = threading.Thread(target=lambda: seen.extend(watch))
    reader.start()

    watch.close()
    reader.join(5)

    assert not reader.is_alive()
    assert not seen
    other.close()


def test_watches_end_when_the_server_asks_to_connect_anew(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = start()
    client = client_of(edge)
    watch, bell = rung(client.watch(PODS))
    bell.clear()

    edge.close(2.0)

    assert bell.wait(5)
    assert watch.take().ended
    watch.close()


def test_a_broken_connection_breaks_its_watches(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = start()
    watch, bell = rung(client_of(edge).watch(PODS))
    bell.clear()
    for connection in list(edge._service.connections):
        edge.loop.post(connection.abort)

    assert bell.wait(5)

    with pytest.raises(ConnectionError):
        watch.take()
    watch.close()


def test_more_watches_than_streams_take_another_connection(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    edge = start(http2=Http2Serving(max_streams=3))
    client = client_of(edge)

    watches = [client.watch(PODS) for _ in range(7)]

    assert edge.connections == 3
    for watch in watches:
        watch.close()


def test_a_server_that_is_away_is_a_connection_error(start: Start, client_of: Callable[[Edge], HttpClient]) -> None:
    edge = start()
    edge.close(0.2)

    with pytest.raises(ConnectionError, match=str(edge.port)):
        client_of(edge).watch(PODS)


def test_an_answer_that_does_not_come_is_not_waited_for(
    start: Start, client_of: Callable[[Edge], HttpClient], toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    toy.routes[PATH] = lambda _: Response(status=200 if gate.wait(20) else 500)
    toy.long_running.add(PATH)
    monkeypatch.setattr(watch_streams, "ANSWER_SECONDS", 0.2)

    with pytest.raises(ConnectionError, match=r"no answer within 0\.2 s"):
        client_of(start()).watch(PODS)
    gate.set()


def test_a_silent_watch_is_given_up(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    client = client_of(start())
    opened = client._open_stream(PATH, {}, 0.2)  # type: ignore[misc]
    assert isinstance(opened, StreamWatch)

    with pytest.raises(ConnectionError, match="timed out"):
        first(opened)


def test_a_reader_that_is_slow_holds_up_itself_alone(
    start: Start, client_of: Callable[[Edge], HttpClient], sources: list[QueueSource]
) -> None:
    client = client_of(start(limits=EdgeLimits(workers=4)))
    slow, _ = rung(client.watch(PODS))
    quick, bell = rung(client.watch(PODS))
    large = orjson.dumps({"type": "ADDED", "object": {"data": "x" * 100_000}}) + b"\n"

    for _ in range(40):
        sources[0].put(large)
    bell.clear()
    sources[1].put(EVENT)

    assert bell.wait(5)
    assert len(quick.take().events) == 1
    events = 0
    while events < 40:
        events += len(slow.take().events)
    slow.close()
    quick.close()


def test_informers_live_on_streams(
    start: Start, client_of: Callable[[Edge], HttpClient], toy: Toy, new_source: type[QueueSource]
) -> None:
    source = new_source()

    def pods(request: HttpRequest) -> Response | StreamResponse:
        if "watch=true" in request.query_string:
            return StreamResponse(source=source)
        return Response(
            body=orjson.dumps(
                {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []}
            )
        )

    toy.routes[PATH] = pods
    toy.long_running.add(PATH)
    informers = InformerFactory(client_of(start()))
    informer = informers.informer(PODS)
    added = threading.Event()
    informer.add_handler(lambda _: added.set())

    informers.start()
    source.put(EVENT)

    assert added.wait(10)
    informers.stop()


def test_informers_come_back_to_a_server_that_was_away(
    start: Start, toy: Toy, tls: TlsFiles, client_of: Callable[[Edge], HttpClient], new_source: type[QueueSource]
) -> None:
    edge_ended = threading.Event()

    def pods(request: HttpRequest) -> Response | StreamResponse:
        if "watch=true" in request.query_string:
            source = new_source()
            if edge_ended.is_set():
                source.put(EVENT)
            return StreamResponse(source=source)
        return Response(body=orjson.dumps({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": []}))

    toy.routes[PATH] = pods
    toy.long_running.add(PATH)
    edge = start()
    informers = InformerFactory(client_of(edge))
    added = threading.Event()
    informers.informer(PODS).add_handler(lambda _: added.set())
    informers.start()
    assert informers.wait_synced(10)

    for connection in list(edge._service.connections):
        edge.loop.post(connection.abort)
    edge.close(0.2)
    edge_ended.set()
    again = Edge(toy, tls=tls, port=edge.port, negotiated=Http2Serving())
    again.start()

    assert added.wait(30)
    informers.stop()
    again.close(0.2)
