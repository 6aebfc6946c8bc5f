"""How fast the edge answers a toy handler: GETs from memory, GETs through the pool, and a fan-out to watchers.

Run by hand: ``.venv/bin/python tests/perf/bench_edge.py``. The client shares the process's machine, so read the figures as
ratios and the server's CPU per request as the sturdier one.
"""

from __future__ import annotations

import resource
import selectors
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response, StreamResponse

SECONDS = 2.0
WATCHERS = 1000
EVENTS = 100
POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"}}' * 68
HEADERS = [("Content-Type", "application/json"), ("Audit-Id", "0f7f7a30-43f8-4a0e-a7ae-3c1c7b1a3a5e")]


class Source:
    """A watch whose events are shared by all."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.lock = threading.Lock()
        self.notify: Callable[[], None] = lambda: None

    def put(self, piece: bytes) -> None:
        with self.lock:
            self.pieces.append(piece)
        self.notify()

    def subscribe(self, notify: Callable[[], None]) -> None:
        self.notify = notify

    def drain(self) -> list[bytes]:
        with self.lock:
            pieces, self.pieces = self.pieces, []
        return pieces

    def close(self) -> None:
        self.pieces = []


class Toy:
    """Answers /hot at once, /cold on the pool, /watch with a stream."""

    def __init__(self) -> None:
        self.sources: list[Source] = []

    def handle(self, request: HttpRequest) -> Answer:
        if request.path == "/watch":
            source = Source()
            self.sources.append(source)
            return StreamResponse(source=source)
        return Response(headers=HEADERS, body=POD)

    def hot(self, request: HttpRequest) -> Response | None:
        return Response(headers=HEADERS, body=POD) if request.path == "/hot" else None

    def is_long_running(self, request: HttpRequest) -> bool:
        return request.path == "/watch"


def size_of_answer(sock: socket.socket) -> int:
    """Read one answer; return how many bytes it has in all."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(1 << 20)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    got = len(body)
    while got < length:
        got += len(sock.recv(1 << 20))
    return len(head) + 4 + length


def load(port: int, path: str, connections: int, depth: int) -> None:
    """Keep `depth` requests going on each connection; print how many were answered."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench/1\r\nAccept: application/json\r\n"
        "Authorization: Bearer 0123456789abcdef\r\n\r\n"
    ).encode()
    selector = selectors.DefaultSelector()
    first = socket.create_connection(("127.0.0.1", port))
    first.sendall(request)
    size = size_of_answer(first)
    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(sock, selectors.EVENT_READ, [0])
        sock.sendall(request * depth)
    answered, end = 0, time.monotonic() + SECONDS
    while time.monotonic() < end:
        for key, _ in selector.select(0.1):
            sock = key.fileobj  # type: ignore[assignment]  # we registered sockets only
            key.data[0] += len(sock.recv(1 << 20))
            whole, key.data[0] = divmod(key.data[0], size)
            if whole:
                answered += whole
                sock.sendall(request * whole)
    print(answered)


def cpu() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(port: int, path: str, connections: int, depth: int) -> None:
    """Load the server from another process and print rate and CPU per request."""
    before = cpu()
    command = [sys.executable, __file__, str(port), path, str(connections), str(depth)]
    answered = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    spent = cpu() - before
    rate, each = answered / SECONDS, spent / answered * 1e6
    print(f"{path:6} {connections:3} connections, depth {depth:2}: {rate:8,.0f}/s, {each:5.1f} us CPU each")


def fan_out(edge: Edge, toy: Toy) -> None:
    """Send events to many watchers and print what it took."""
    sockets = []
    for _ in range(WATCHERS):
        sock = socket.create_connection(("127.0.0.1", edge.port))
        sock.sendall(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        sockets.append(sock)
    while len(toy.sources) < WATCHERS:
        time.sleep(0.01)
    time.sleep(0.2)
    event = b'{"type":"ADDED","object":%s}\n' % POD[:500]
    before, begun = cpu(), time.monotonic()
    for _ in range(EVENTS):
        for source in toy.sources:
            source.put(event)
    want = len(event) * EVENTS
    for sock in sockets:
        got = 0
        while got < want:
            got += len(sock.recv(1 << 20))
    spent, took = cpu() - before, time.monotonic() - begun
    print(f"{WATCHERS} watchers x {EVENTS} events: {took:.2f} s, {spent:.2f} s CPU with the clients' own")


def main() -> None:
    """Measure everything once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    toy = Toy()
    edge = Edge(toy)
    edge.start()
    for path, connections, depth in (("/hot", 32, 1), ("/hot", 8, 16), ("/cold", 32, 1)):
        measure(edge.port, path, connections, depth)
    fan_out(edge, toy)
    edge.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        load(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
