"""What HTTP/2 costs an API server beside HTTP/1.1: memory of watches, processor time of requests and of watch events.

Run by hand: ``.venv/bin/python tests/perf/bench_http2.py [KUBELETS]``. So many clients open fourteen watches each, as
kubelets do, over one connection of HTTP/2 or fourteen of HTTP/1.1; then one client reads an object again and again, and
another changes one that all watch.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, ResponseReceived, StreamEnded
from scale import servers
from servers_under_load import TOKEN

KUBELETS, STREAMS = 100, 14
REST_SECONDS = 35.0
"""Until the server has given back what the opening took: it does so every thirty seconds."""
REQUESTS, CHANGES = 2000, 40
OBJECT = "/api/v1/namespaces/default/configmaps/watched"
WATCHES = (
    "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=3000&fieldSelector=spec.nodeName%3Dnode-{}",
    "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=3000&fieldSelector=metadata.name%3Dwatched",
)
FIELDS = [(":scheme", "https"), (":authority", "x"), ("authorization", f"Bearer {TOKEN}")]


def dial(port: int, protocol: str) -> ssl.SSLSocket:
    """Return a connection that speaks a protocol."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=60))


class Http2:
    """A client of HTTP/2."""

    def __init__(self, port: int) -> None:
        self.sock = dial(port, "h2")
        self.h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(1 << 24)

    def begin(self, path: str) -> int:
        """Ask for a path; return the stream."""
        number: int = self.h2.get_next_available_stream_id()
        self.h2.send_headers(number, [(":method", "GET"), (":path", path), *FIELDS], end_stream=True)
        return number

    def until(self, kind: type, count: int = 1) -> None:
        """Read until so many events of a kind have come."""
        self.sock.sendall(self.h2.data_to_send())
        while count > 0:
            for event in self.h2.receive_data(self.sock.recv(65536)):
                count -= isinstance(event, kind)
                if isinstance(event, DataReceived):
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            self.sock.sendall(self.h2.data_to_send())

    def close(self) -> None:
        """Hang up."""
        self.sock.close()


class Http1:
    """A client of HTTP/1.1."""

    def __init__(self, port: int) -> None:
        self.sock = dial(port, "http/1.1")

    def begin(self, path: str) -> None:
        """Ask for a path."""
        self.sock.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())

    def close(self) -> None:
        """Hang up."""
        self.sock.close()


def watch_http2(port: int, path: str, clients: int) -> list[Http2]:
    """Return clients that watch over one connection each."""
    found = [Http2(port) for _ in range(clients)]
    for number, client in enumerate(found):
        for _ in range(STREAMS):
            client.begin(path.format(number))
        client.until(ResponseReceived, STREAMS)
    return found


def watch_http1(port: int, path: str, clients: int) -> list[Http1]:
    """Return clients that watch over a connection for each watch."""
    found = [Http1(port) for _ in range(clients * STREAMS)]
    for number, client in enumerate(found):
        client.begin(path.format(number // STREAMS))
        client.sock.recv(4096)
    return found


@contextmanager
def api_server() -> Iterator[tuple[int, int]]:
    """Run one; give its port and process."""
    with tempfile.TemporaryDirectory() as folder, servers.running(Path(folder), servers.Wanted(0)) as cluster:
        yield int(cluster.urls[0].rpartition(":")[2]), cluster.pids["apiserver"]


def memory(watch: Callable[[int, str, int], list[Http1] | list[Http2]], clients: int) -> float:
    """Return KiB for each watch of so many clients."""
    with api_server() as (port, pid):
        held = [*watch(port, WATCHES[0], 2)]
        time.sleep(REST_SECONDS)
        before = servers.proportional_bytes(pid)
        held += watch(port, WATCHES[0], clients)
        time.sleep(REST_SECONDS)
        after = servers.proportional_bytes(pid)
        for one in held:
            one.close()
    return (after - before) / clients / STREAMS / 1024


def request_cost() -> tuple[float, float]:
    """Return microseconds of the server for each GET of a small object, over HTTP/1.1 and HTTP/2."""
    with api_server() as (port, pid):
        write(port, "POST", OBJECT.rpartition("/")[0], 0)
        first, second = Http1(port), Http2(port)

        def over_1() -> None:
            first.begin(OBJECT)
            first.sock.recv(65536)

        def over_2() -> None:
            second.begin(OBJECT)
            second.until(StreamEnded)

        costs = {over_1: 0.0, over_2: 0.0}
        for call in [over_1, over_2] * 4:
            before = servers.usage(pid).cpu
            for _ in range(REQUESTS):
                call()
            costs[call] += (servers.usage(pid).cpu - before) / REQUESTS / 4 * 1e6
        first.close()
        second.close()
    return costs[over_1], costs[over_2]


def write(port: int, method: str, path: str, number: int) -> None:
    """Write the object that is watched."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context())
    body = {"metadata": {"name": "watched"}, "data": {"number": f"{number}", "filling": "x" * 500}}
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps({"apiVersion": "v1", "kind": "ConfigMap", **body}), headers)
    assert connection.getresponse().status < 300
    connection.close()


def event_cost(watch: Callable[[int, str, int], list[Http1] | list[Http2]], clients: int) -> float:
    """Return microseconds of the server for each event of each watch; the write among them."""
    with api_server() as (port, pid):
        write(port, "POST", OBJECT.rpartition("/")[0], 0)
        held = watch(port, WATCHES[1], clients)
        time.sleep(1.0)
        before = servers.usage(pid).cpu
        for number in range(CHANGES):
            write(port, "PUT", OBJECT, number + 1)
            for one in held:
                if isinstance(one, Http2):
                    one.until(DataReceived, STREAMS)
                else:
                    one.sock.recv(65536)
        cost = (servers.usage(pid).cpu - before) / CHANGES / clients / STREAMS * 1e6
        for one in held:
            one.close()
    return cost


def main(clients: int) -> None:
    """Print all of it."""
    first, second = request_cost()
    print(f"GET: {first:.0f} us over HTTP/1.1, {second:.0f} us over HTTP/2")
    first, second = event_cost(watch_http1, clients // 4), event_cost(watch_http2, clients // 4)
    print(f"watch event: {first:.0f} us over HTTP/1.1, {second:.0f} us over HTTP/2")
    first, second = memory(watch_http1, clients), memory(watch_http2, clients)
    print(f"watch: {first:.1f} KiB over HTTP/1.1, {second:.1f} KiB over HTTP/2, its share of the connection included")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else KUBELETS)
