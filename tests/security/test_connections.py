"""One connection costs the others nothing: whatever it sends, and however little of the answers it reads."""

import http.client
import os
import socket
import struct
import sys
import threading
import time
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, LONGEST_WAIT, Hostile, Stopwatch, World, cheap, request
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import ExecUpgrade, Response
from hyperkube_lib.serving.spdy import DICTIONARY

from hyperkube.testing.waiting import eventually

MAPS = "/api/v1/namespaces/a/configmaps"
MIB = 1 << 20
BIG = b"x" * 2 * MIB


class Server:
    """Answers with much from memory and from threads, and holds commands that read nothing until they are let go."""

    def __init__(self):
        self.answered = 0
        self.read = []
        self.go_on = threading.Event()

    def handle(self, request):
        if request.path == "/exec":
            return ExecUpgrade(serve=self.run, stdin=True, tty=True)
        if request.path == "/wait":
            self.go_on.wait(20)
        self.answered += 1
        return Response(body=BIG if request.path == "/big" else request.path.encode())

    def run(self, channels):
        self.go_on.wait(20)
        self.read.append(channels.read(4))

    def hot(self, request):
        if request.path == "/readyz":
            return Response(body=b"ok")
        if request.path != "/hot":
            return None
        self.answered += 1
        return Response(body=BIG)

    def is_long_running(self, request):
        return request.path == "/exec"


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def edge(server):
    edge = Edge(server)
    edge.start()
    yield edge
    server.go_on.set()
    edge.close(0)


@contextmanager
def connected(edge):
    with socket.create_connection(("127.0.0.1", edge.port), timeout=10) as connection:
        yield connection


@contextmanager
def patiently(edge):
    """Ask meanwhile on another connection; no answer takes long."""
    waits, stop = [], threading.Event()

    def watch():
        other = http.client.HTTPConnection("127.0.0.1", edge.port)
        while not stop.wait(0.005):
            stopwatch = Stopwatch()
            other.request("GET", "/readyz")
            other.getresponse().read()
            waits.append(stopwatch.seconds())
        other.close()

    thread = threading.Thread(target=watch)
    thread.start()
    yield
    stop.set()
    thread.join()
    assert cheap(max(waits), LONGEST_WAIT)


class TestAnswersThatAreNotRead:
    @pytest.mark.parametrize("path", ["/hot", "/big"])
    def test_the_next_is_not_made_before_the_client_took_the_last(self, server, edge, path):
        with connected(edge) as connection:
            connection.sendall(request("GET", path) * 100)
            time.sleep(0.7)
            made = server.answered
            expected = 100 * len(BIG)
            received = 0
            while received < expected:
                received += len(connection.recv(MIB))

        assert made < 15
        assert server.answered == 100

    def test_bodies_behind_a_request_under_way_are_not_taken_either(self, server, edge):
        with connected(edge) as connection:
            connection.sendall(request("POST", "/wait", body=b"x"))
            connection.settimeout(0.7)
            sent = send_while_taken(connection, request("POST", "/p", body=BIG) * 50)

        assert sent < 24 * MIB


def send_while_taken(connection, data):
    """Send until nothing is taken for the connection's timeout, or it is closed; return how much was."""
    sent = 0
    with suppress(OSError):
        while sent < len(data):
            sent += connection.send(data[sent : sent + 65536])
    return sent


def upgraded(edge, *lines):
    connection = socket.create_connection(("127.0.0.1", edge.port), timeout=10)
    connection.sendall(request("GET", "/exec", *lines))
    assert connection.recv(1000).startswith(b"HTTP/1.1 101 ")
    return connection


WEBSOCKET = (b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13",
             b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", b"Sec-WebSocket-Protocol: v5.channel.k8s.io")  # fmt: skip
TEXT, BINARY, PING, FINAL = 1, 2, 9, 0x80


def frame(kind, payload=b""):
    return bytes((kind, 0x80 | len(payload), 0, 0, 0, 0)) + payload


FRAMES = {
    "empty messages": frame(FINAL | BINARY) * 200_000,
    "empty text": frame(FINAL | TEXT) * 200_000,
    "pings": frame(FINAL | PING, b"p") * 100_000,
    "empty fragments": frame(BINARY) + frame(0) * 200_000,
    "single bytes": frame(BINARY, b"\0") + frame(0, b"x") * 150_000,
    "resizes": frame(FINAL | BINARY, b'\4{"Width":1,"Height":1}') * 50_000,
    "input": frame(FINAL | BINARY, b"\0x") * 150_000,
    "closed channels": frame(FINAL | BINARY, b"\xff\0") * 100_000,
    "channels that are none": frame(FINAL | BINARY, b"\x7fx") * 100_000,
}


@pytest.mark.parametrize("name", FRAMES)
def test_websocket_frames_however_small_leave_the_loop_to_others(server, edge, name):
    before = resident()
    with upgraded(edge, *WEBSOCKET) as connection, patiently(edge):
        connection.settimeout(1.5)
        send_while_taken(connection, FRAMES[name])
        time.sleep(0.2)

    assert resident() - before < 64 * MIB


def test_of_the_sizes_of_a_terminal_the_newest_is_read(server, edge):
    with upgraded(edge, *WEBSOCKET) as connection:
        for width in range(2000):
            connection.sendall(frame(FINAL | BINARY, b'\4{"Width":%d,"Height":1}' % width))
        connection.sendall(frame(FINAL | PING, b"done"))
        received = b""
        while b"done" not in received:
            received += connection.recv(1000)
        server.go_on.set()
        eventually(lambda: server.read)

    assert server.read == [b'{"Width":1999,"Height":1}']


def control(kind, payload):
    return struct.pack(">HHI", 0x8003, kind, len(payload)) + payload


def streams(kind, headers, count):
    """Return as many frames with headers as the peer reads, one stream each: 1 opens it, 8 adds headers to it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 8, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
    texts = b"".join(struct.pack(">I", len(text)) + text for pair in headers for text in pair)
    frames = []
    for number in range(1, 2 * count, 2):
        block = packer.compress(struct.pack(">I", len(headers)) + texts) + packer.flush(zlib.Z_SYNC_FLUSH)
        frames.append(control(kind, struct.pack(">I", number) + bytes(6 if kind == 1 else 0) + block))
    return b"".join(frames)


SPDY = {
    "pings": control(6, b"\0\0\0\1") * 100_000,
    "data for no stream": struct.pack(">II", 99, 1) + b"x",
    "empty data": struct.pack(">II", 1, 0) * 200_000,
    "resets": control(3, struct.pack(">II", 7, 1)) * 100_000,
    "settings": control(4, struct.pack(">I", 1) + struct.pack(">II", 7, 9)) * 100_000,
    "window updates": control(9, struct.pack(">II", 0, 1)) * 100_000,
}
SPDY["data for no stream"] *= 150_000
SPDY |= {
    "empty headers": streams(8, [(b"", b"")] * 8_000, 300),
    "streams of unknown types": streams(1, [(b"streamtype", b"x")], 50_000),
}


@pytest.mark.parametrize("name", SPDY)
def test_spdy_frames_however_small_leave_the_loop_to_others(edge, name):
    before = resident()
    with upgraded(edge, b"Connection: Upgrade", b"Upgrade: SPDY/3.1",
                  b"X-Stream-Protocol-Version: v4.channel.k8s.io") as connection, patiently(edge):  # fmt: skip
        connection.settimeout(1.5)
        send_while_taken(connection, SPDY[name])
        time.sleep(0.2)

    assert resident() - before < 64 * MIB


def resident():
    """Return the bytes of memory that this process, which is the server's too, has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class TestTimers:
    @pytest.fixture(scope="class")
    @classmethod
    def hostile(cls, tmp_path_factory):
        world = World(tmp_path_factory.mktemp("timers"))
        yield Hostile(world)
        world.close()

    @pytest.mark.parametrize("seconds", ["999999999999", "9223372036", "9223372037", str(2**63 - 1), "-999999999999"])
    @pytest.mark.parametrize(
        "more", ["", "&timeout=9223372036s", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"]
    )
    def test_a_watch_of_any_length_leaves_the_others_their_time(self, hostile, seconds, more):
        with hostile.connect() as connection:
            connection.sendall(request("GET", f"{MAPS}?watch=1&timeoutSeconds={seconds}{more}", credentials=ADMIN))
            assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
            began = time.monotonic()
            answers = hostile.answers(
                request("GET", f"{MAPS}?watch=1&timeoutSeconds=1", b"Connection: close", credentials=ADMIN), silence=10
            )

        assert answers == [200]
        assert time.monotonic() - began < 5
        assert hostile.send(request("GET", "/livez")) == (200, b"ok")
