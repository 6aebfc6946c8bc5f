"""How a server ends: what is answered, what is refused, and when watches go."""

import http.client
import threading
import time

import pytest
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.apiserver.shutdown import GracefulShutdown, retry_elsewhere, shut_down
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse

from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually


class Endless:
    """A watch in which nothing happens."""

    def subscribe(self, notify):
        notify()

    def drain(self):
        return []

    def close(self):
        pass


class Slow:
    """Answers ``/slow`` when it is told to, and ``/watch`` with a stream."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()

    def handle(self, request):
        if request.path == "/watch":
            return StreamResponse(source=Endless())
        if request.path == "/slow":
            self.begun.set()
            assert self.go.wait(60)
        return Response(body=b"done")

    def hot(self, _request):
        return None

    def is_long_running(self, request):
        return request.path == "/watch"


@pytest.fixture
def slow():
    return Slow()


@pytest.fixture
def edge(slow):
    edge = Edge(slow, port=0)
    edge.start()
    yield edge
    edge.close(0)


class Clients:
    """Asks over a connection each, and closes them all in the end."""

    def __init__(self, port):
        self.port = port
        self.opened = []

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.opened.append(connection)
        connection.request("GET", path)
        return connection

    def get(self, path):
        """Return status, headers and body of an answer."""
        answer = self.ask(path).getresponse()
        return answer.status, answer.headers, answer.read()

    def refused(self):
        """Tell whether nobody listens any more."""
        try:
            self.get("/")
        except (ConnectionError, http.client.HTTPException):
            return True
        return False

    def close(self):
        for connection in self.opened:
            connection.close()


@pytest.fixture
def clients(edge):
    clients = Clients(edge.port)
    yield clients
    clients.close()


def ended_in_background(shutdown, edge, announce=lambda: None):
    thread = threading.Thread(target=shut_down, args=(shutdown, announce, [edge], SystemClock()), daemon=True)
    thread.start()
    return thread


def test_a_request_under_way_is_answered_and_nobody_else_gets_in(slow, edge, clients):
    under_way = clients.ask("/slow")
    assert slow.begun.wait(60)
    thread = ended_in_background(GracefulShutdown(), edge)
    assert eventually(clients.refused)

    slow.go.set()

    with under_way.getresponse() as answer:
        assert (answer.read(), answer.headers["Connection"]) == (b"done", "close")
    thread.join(60)
    assert not thread.is_alive()


def test_with_retry_after_newcomers_are_told_to_come_again(slow, edge, clients):
    under_way = clients.ask("/slow")
    assert slow.begun.wait(60)
    thread = ended_in_background(GracefulShutdown(retry_after=True), edge)
    assert eventually(lambda: clients.get("/x")[0] == 429)

    _, headers, body = clients.get("/x")
    probed, _, _ = clients.get("/readyz")
    slow.go.set()

    assert (headers["Retry-After"], headers["Connection"]) == ("5", "close")
    assert body == b"The apiserver is shutting down, please try again later.\n"
    assert probed == 200
    with under_way.getresponse() as answer:
        assert answer.read() == b"done"
    thread.join(60)
    assert eventually(clients.refused)


def test_a_request_that_does_not_end_is_not_waited_for(slow, edge, clients):
    clients.ask("/slow")
    assert slow.begun.wait(60)

    thread = ended_in_background(GracefulShutdown(request_seconds=0.1), edge)

    thread.join(60)
    assert not thread.is_alive()
    slow.go.set()


def test_watches_end_one_after_another(edge, clients):
    watches = [clients.ask("/watch").getresponse() for _ in range(4)]
    ends = []

    def follow(watch):
        with watch:
            assert watch.read() == b""
        ends.append(time.monotonic())

    threads = [threading.Thread(target=follow, args=(watch,)) for watch in watches]
    for thread in threads:
        thread.start()
    begun = time.monotonic()
    shut_down(GracefulShutdown(stream_seconds=0.8), lambda: None, [edge], SystemClock())
    for thread in threads:
        thread.join(60)

    assert len(ends) == 4
    assert max(ends) - begun >= 0.5  # the last of four goes after three quarters of the time


def test_the_delay_comes_before_all_else(edge, clients):
    order, clock = [], FakeClock()
    clock.sleep = lambda seconds: order.append((seconds, clients.get("/")[0]))

    shut_down(GracefulShutdown(delay=7.0), lambda: order.append("announced"), [edge], clock)

    assert order == ["announced", (7.0, 200)]


@pytest.mark.parametrize(
    ("path", "agent", "status"),
    [("/api", "kubectl/v1", 429), ("/readyz", "", None), ("/livez/ping", "", None), ("/metrics", "", None),
     ("/healthz", "", None), ("/api", "kube-apiserver/v1.36", None)],
)  # fmt: skip
def test_probes_metrics_and_the_server_itself_are_answered_to_the_end(path, agent, status):
    refused = retry_elsewhere(HttpRequest(method="GET", path=path, headers={"user-agent": agent}))

    assert (refused.status if refused is not None else None) == status


def test_a_server_that_announces_its_end_is_alive_but_not_ready():
    pytest.importorskip("hyperkube_authz.always_allow")
    server = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    server.start()
    try:
        assert eventually(server.ready)

        server.announce_end()

        def status(path):
            return server.handler.handle(HttpRequest(method="GET", path=path)).status

        assert (status("/readyz"), status("/livez"), status("/healthz"), status("/version")) == (500, 200, 200, 200)
    finally:
        server.close()
