"""HttpClient against a small real server on loopback."""

import json
import re
import subprocess
import sys
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from prometheus_client import CollectorRegistry

from hyperkube.client import http, readiness
from hyperkube.client.exchange import Bounds
from hyperkube.client.http import HttpClient
from hyperkube.client.informer import InformerFactory
from hyperkube.client.readiness import Readiness
from hyperkube.client.request_counts import RequestCounts
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.errors import Conflict, NotFound, ServiceUnavailable, TooManyRequests, UsageError

STATUS_404 = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
              "message": 'pods "x" not found'}  # fmt: skip


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.answers = []
        self.default = {}
        self.refuses_watches = None
        self.peers = set()
        self.hold = threading.Event()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, prefix=""):
        return f"http://127.0.0.1:{self.server_address[1]}{prefix}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.peers.add(self.client_address)
        self.server.seen.append((self.command, self.path, dict(self.headers.items()), body))
        refusal = self.server.refuses_watches
        if "watch=true" in self.path and not refusal:
            self.stream()
            return
        usual = (404, {}, refusal) if refusal else (200, {}, self.server.default)
        status, headers, answer = self.server.answers.pop(0) if self.server.answers else usual
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815  the names http.server looks for

    def stream(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number in (1, 2):
            event = json.dumps({"type": "ADDED", "object": {"metadata": {"name": f"p{number}"}}}) + "\n"
            for part in (event[:7], event[7:]):
                self.wfile.write(f"{len(part):x}\r\n{part}\r\n".encode())
                self.wfile.flush()
        self.server.hold.wait(60)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_args):
        """Keep quiet."""


def wait_for(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.hold.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def client(server):
    client = HttpClient(server.url(), token="secret")
    yield client
    client.close()


def test_a_request_carries_path_query_and_credentials(server, client):
    client.list(PODS, "d", label_selector="a in (b,c)", limit=5)

    method, path, headers, _ = server.seen[0]
    assert (method, path) == ("GET", "/api/v1/namespaces/d/pods?labelSelector=a+in+%28b%2Cc%29&limit=5")
    assert headers["Authorization"] == "Bearer secret"
    assert headers["Accept"] == "application/json"


def test_the_items_of_a_list_get_kind_and_version(server, client):
    server.answers.append((200, {}, {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a"}}],
                                     "metadata": {"resourceVersion": "7", "continue": "c", "remainingItemCount": 3}}))  # fmt: skip

    page = client.list(PODS)

    assert page.items == [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}]
    assert (page.resource_version, page.continue_token, page.remaining) == ("7", "c", 3)


def test_a_patch_says_its_kind(server, client):
    client.patch(PODS, "a", [{"op": "remove", "path": "/x"}], "d", patch_type="application/json-patch+json")

    _, path, headers, body = server.seen[0]
    assert path == "/api/v1/namespaces/d/pods/a"
    assert headers["Content-Type"] == "application/json-patch+json"
    assert json.loads(body) == [{"op": "remove", "path": "/x"}]


def test_a_refusal_is_raised_as_the_error_it_names(server, client):
    server.answers.append((404, {}, STATUS_404))

    with pytest.raises(NotFound, match='pods "x" not found'):
        client.get(PODS, "x", "d")


@pytest.mark.parametrize(("code", "error"), [(503, ServiceUnavailable), (409, Conflict)], ids=str)
def test_a_refusal_without_a_status_is_understood_by_its_code(server, client, code, error):
    server.answers.append((code, {}, b"<html>"))

    with pytest.raises(error):
        client.get(PODS, "x", "d")


def test_a_throttled_request_is_repeated(server, client):
    server.answers += [(429, {"Retry-After": "0"}, {}), (200, {}, {"kind": "Pod"})]

    assert client.get(PODS, "x", "d") == {"kind": "Pod"}
    assert len(server.seen) == 2


@pytest.mark.parametrize("asked", ["61", "99999999999999999999", "\u00b2", "-1", "9" * 5000])
def test_a_server_that_throttles_for_long_has_answered(server, asked):
    server.answers.append((429, {"Retry-After": asked}, {}))

    with closing(HttpClient(server.url(), bounds=Bounds(seconds=60))) as client, pytest.raises(TooManyRequests):
        client.get(PODS, "x", "d")

    assert len(server.seen) == 1


def test_requests_share_a_connection(server, client):
    for _ in range(5):
        client.get(PODS, "x", "d")

    assert len(server.peers) == 1


def test_identities_may_share_connections(server, client):
    other = client.as_bearer(lambda: "theirs", "them")

    for each in (client, other, client):
        each.get(PODS, "x", "d")

    assert len(server.peers) == 1
    assert [headers["Authorization"] for _, _, headers, _ in server.seen] == [
        "Bearer secret",
        "Bearer theirs",
        "Bearer secret",
    ]
    assert server.seen[1][2]["User-Agent"] == "them"


def test_a_raw_request_returns_whatever_comes(server, client):
    server.answers.append((418, {"X": "y"}, b"tea"))

    answer = client.request("GET", "/healthz", query={"verbose": "1"})

    assert (answer.status, answer.headers["X"], answer.body) == (418, "y", b"tea")


def test_no_server_is_a_connection_error(server):
    url = server.url()
    server.server_close()

    with pytest.raises(ConnectionError):
        HttpClient(url).get(PODS, "x", "d")


def test_a_watch_yields_events_and_is_closed_from_another_thread(server, client):
    watch = client.watch(PODS, "d", timeout_seconds=30)
    names = []
    reader = threading.Thread(target=lambda: names.extend(e.object["metadata"]["name"] for e in watch))
    reader.start()
    deadline = time.monotonic() + 3
    while len(names) < 2 and time.monotonic() < deadline:
        time.sleep(0.005)

    watch.close()
    reader.join(30)

    assert names == ["p1", "p2"]
    assert not reader.is_alive()


def test_a_watch_ends_with_the_server(server, client):
    server.hold.set()

    assert [event.type for event in client.watch(PODS)] == ["ADDED", "ADDED"]


def taken(watch, rung, count):
    """Look at a watch whenever it rings until it has brought so many events."""
    events, deadline = [], time.monotonic() + 10
    while len(events) < count and time.monotonic() < deadline:
        look = watch.take()
        events += look.events
        if not look.events and not look.ended:
            rung.wait(min(look.seconds, 10))
            rung.clear()
    return [event.object["metadata"]["name"] for event in events]


OWN_THREADS = {"watches", *(f"informers-{number}" for number in range(16))}
needs_epoll = pytest.mark.skipif(not Readiness.is_available, reason="sockets are waited for together on Linux")


@needs_epoll
def test_a_watch_rings_when_there_is_something_to_take(server, client):
    watch, rung = client.watch(PODS, "d"), threading.Event()
    watch.connect(rung.set)

    assert taken(watch, rung, 2) == ["p1", "p2"]
    assert watch.take().events == ()
    rung.clear()
    server.hold.set()
    assert rung.wait(10)
    assert watch.take().ended
    watch.close()


@needs_epoll
def test_a_watch_that_is_silent_too_long_is_broken(server):
    with closing(HttpClient(server.url())) as client:
        watch, rung = client.watch(PODS, "d", timeout_seconds=-29.9), threading.Event()
        watch.connect(rung.set)

        assert taken(watch, rung, 2) == ["p1", "p2"]
        with pytest.raises(ConnectionError, match=r"nothing has come for 0\.1 s"):
            taken(watch, rung, 1)
        watch.close()


@needs_epoll
def test_a_closed_watch_has_ended(server, client):
    watch = client.watch(PODS, "d")
    watch.connect(lambda: None)

    watch.close()
    watch.close()

    assert watch.take().ended


@needs_epoll
def test_many_informers_take_turns_on_few_threads_and_leave_none(server, monkeypatch):
    monkeypatch.setattr(http, "LINGER_SECONDS", 0.05)
    monkeypatch.setattr(readiness, "LINGER_SECONDS", 0.05)
    server.default = {"kind": "PodList", "items": [], "metadata": {"resourceVersion": "1"}}
    before = set(threading.enumerate())

    def own():
        return [each for each in threading.enumerate() if each not in before and each.name in OWN_THREADS]

    with closing(HttpClient(server.url())) as client:
        factory = InformerFactory(client)
        informers = [factory.informer(PODS, f"n{number}") for number in range(20)]
        factory.start()
        wait_for(lambda: all(len(informer) == 2 for informer in informers))

        assert 2 <= len(own()) <= 4
        factory.stop()

        wait_for(lambda: not own())


def test_a_watch_that_is_refused_says_why(server, client):
    server.refuses_watches = STATUS_404

    with pytest.raises(NotFound, match='pods "x" not found'):
        client.watch(PODS, "d")


def test_a_url_prefix_is_kept(server):
    with closing(HttpClient(server.url("/clusters/a/"))) as client:
        client.get(PODS, "x", "d")

    assert server.seen[0][1] == "/clusters/a/api/v1/namespaces/d/pods/x"


def test_a_token_file_is_read_at_use(server, tmp_path):
    file = tmp_path / "token"
    file.write_text("from-file\n")

    with closing(HttpClient(server.url(), token_file=str(file))) as client:
        client.get(PODS, "x", "d")

    assert server.seen[0][2]["Authorization"] == "Bearer from-file"


@pytest.mark.parametrize("url", ["ftp://host", "https://host:99999", "https://host:x", "https://[::1", "https://:443"])
def test_an_address_that_is_no_url_is_the_users_mistake(url):
    with pytest.raises(UsageError, match=f"server address '{re.escape(url)}'"):
        HttpClient(url)


def test_importing_the_client_loads_no_heavy_library():
    code = "import sys, hyperkube.client.http as _; print(sorted({'httpx','flask','numpy','yaml'} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_requests_are_counted_by_their_answers(server):
    counts = RequestCounts()
    host = server.url().removeprefix("http://")
    server.answers.append((404, {}, STATUS_404))
    with closing(HttpClient(server.url(), counts=counts)) as client:
        with pytest.raises(NotFound):
            client.get(PODS, "x", "d")
        client.create(PODS, {"metadata": {"name": "x"}}, "d")
        server.hold.set()
        assert len(list(client.watch(PODS))) == 2
    with closing(HttpClient("http://127.0.0.1:1", counts=counts)) as client, pytest.raises(ConnectionError):
        client.get(PODS, "x", "d")

    registry = CollectorRegistry()
    registry.register(counts)

    def counted(code, method, host):
        labels = {"code": code, "method": method, "host": host}
        return registry.get_sample_value("rest_client_requests_total", labels)

    assert counted("404", "GET", host) == 1
    assert counted("200", "POST", host) == 1
    assert counted("200", "GET", host) == 1
    assert counted("<error>", "GET", "127.0.0.1:1") == 1
