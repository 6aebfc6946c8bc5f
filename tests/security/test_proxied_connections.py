"""What a proxied server answers cannot open a tunnel, move the client elsewhere, or fill the memory."""

import gzip
import socket
import threading
import zlib

import pytest
from hyperkube_host.apiserver.connect.proxied import Prefix
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import RelayUpgrade

WEBSOCKET = ("Connection: Upgrade", "Upgrade: websocket")
SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"


class Backend:
    """A server that answers each connection with the same bytes, and keeps what it was sent."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answer, self.got, self.sent = b"", b"", 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                self.got = b""
                while b"\r\n\r\n" not in self.got and (data := connection.recv(65536)):
                    self.got += data
                try:
                    pieces = (self.answer,) if isinstance(self.answer, bytes) else self.answer
                    for piece in pieces:
                        connection.sendall(piece)
                        self.sent += len(piece)
                    self.got += connection.recv(65536)
                except OSError:
                    pass  # the front has hung up, which is what the tests want to see


class Front:
    """A handler that relays everything."""

    def __init__(self, port):
        self.port, self.fields = port, {}

    def handle(self, request):
        return RelayUpgrade(host="127.0.0.1", port=self.port, path="/x", tls=False, **self.fields)

    def hot(self, request):
        return None

    def is_long_running(self, request):
        return True


@pytest.fixture(scope="module")
def rig():
    backend = Backend()
    front = Front(backend.port)
    edge = Edge(front, host="127.0.0.1", port=0)
    edge.start()
    yield backend, front, edge
    edge.close(0)
    backend.listener.close()


@pytest.fixture
def ask(rig):
    backend, front, edge = rig

    def ask(answer, *headers, **fields):
        backend.answer, backend.sent, front.fields = answer, 0, fields
        with socket.create_connection(("127.0.0.1", edge.port), timeout=60) as client:
            client.sendall("\r\n".join(("GET /a HTTP/1.1", "Host: x", *headers, "", "")).encode("latin-1"))
            got = b""
            while data := client.recv(65536):
                got += data
                head, _, rest = got.partition(b"\r\n\r\n")
                length = next((int(line[15:]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"), None)
                if length is not None and len(rest) >= length:
                    break
                if head.startswith(b"HTTP/1.1 101"):
                    break
        return int(got[9:12]), got

    return ask


def test_a_switch_that_was_not_asked_for_is_refused(ask):
    status, got = ask(SWITCHING + b"Upgrade: websocket\r\n\r\ntunnel")

    assert status == 503
    assert b'backend tried to switch protocol \\"websocket\\" when \\"\\" was requested' in got
    assert b"tunnel" not in got


@pytest.mark.parametrize("protocol", ["raw", "h2c", "websocket, raw"])
def test_a_switch_to_another_protocol_is_refused(ask, protocol):
    status, got = ask(SWITCHING + f"Upgrade: {protocol}\r\n\r\ntunnel".encode(), *WEBSOCKET)

    assert (status, b"tunnel" in got) == (500, False)


@pytest.mark.parametrize("token", ["h2c", "raw"])
def test_an_upgrade_that_is_not_known_is_not_asked_for(ask, rig, token):
    status, _ = ask(SWITCHING + f"Upgrade: {token}\r\n\r\ntunnel".encode(), "Connection: Upgrade", f"Upgrade: {token}")

    assert status == 503
    assert b"Upgrade" not in rig[0].got


def test_the_protocol_that_was_asked_for_passes(ask):
    assert ask(SWITCHING + b"Upgrade: WebSocket\r\n\r\n", *WEBSOCKET)[0] == 101


def test_an_upgrade_answered_plainly_is_an_error_and_a_refusal_passes(ask):
    status, got = ask(b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n", *WEBSOCKET)

    assert (status, b"invalid upgrade response: status code 302" in got) == (500, True)
    assert ask(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", *WEBSOCKET)[0] == 401


def test_headers_named_in_connection_end_here_in_both_directions(ask, rig):
    answer = b"HTTP/1.1 200 OK\r\nConnection: X-Hop, keep-alive\r\nX-Hop: 1\r\nX-End: 2\r\nContent-Length: 0\r\n\r\n"
    _, got = ask(answer, "Connection: close, X-Mine", "X-Mine: 1", "X-Other: 2")

    assert (b"X-Hop" in got, b"X-End: 2" in got) == (False, True)
    assert (b"x-mine" in rig[0].got.lower(), b"x-other: 2" in rig[0].got.lower()) == (False, True)


@pytest.mark.parametrize(
    "name", ["X-Remote-User", "X-Remote-Group", "X-Remote-Uid", "X-Remote-Extra-A", "Impersonate-User"]
)
def test_what_says_who_acts_is_not_passed_on(ask, rig, name):
    ask(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", f"{name}: admin")

    assert b"admin" not in rig[0].got


def head_without_end(start, line):
    yield start
    for _ in range(480):
        yield line * (65536 // len(line))


@pytest.mark.parametrize(
    ("start", "line"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-A: 0123456789\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-A: ", b"a"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["lines", "one line", "continue"],
)
def test_a_head_of_30_megabytes_is_given_up_early(ask, rig, start, line):
    status, got = ask(head_without_end(start, line))

    assert (status, b"server response headers exceeded" in got) == (503, True)
    assert rig[0].sent < 10 << 20


def test_trailers_of_an_answer_mean_nothing(ask):
    _, got = ask(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Late: 1\r\n\r\n", "Connection: close"
    )

    assert (b"\r\na\r\n0\r\n" in got, b"X-Late" in got) == (True, False)


def test_a_redirect_passes_only_where_it_may(ask):
    answer = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n"
    status, got = ask(answer, redirects=False)

    assert (status, got.rpartition(b"\r\n\r\n")[2]) == (
        502, b"the backend attempted to redirect this request, which is not permitted")  # fmt: skip
    assert b"elsewhere" not in got
    assert ask(answer)[0] == 307
    assert ask(b"HTTP/1.1 304 Not Modified\r\n\r\n", "Connection: close", redirects=False)[0] == 304


def test_names_go_in_utf_8_and_bring_no_header_lines(ask, rig):
    ask(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", headers=[("X-Remote-User", "jürgen\r\nX-Remote-Group: all")])

    assert "X-Remote-User: jürgen  X-Remote-Group: all\r\n".encode() in rig[0].got


def test_a_name_that_no_header_can_hold_is_refused(ask):
    status, got = ask(b"", headers=[("X-Remote-User", "a\0b")])

    assert (status, b'invalid header field value for \\"X-Remote-User\\"' in got) == (503, True)


def test_a_compressed_page_does_not_grow_without_bound(ask):
    packed = gzip.compress(b"<p>" + bytes(50 << 20))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(
        packed
    )
    links = Prefix("/proxy", frozenset({"x"}))

    _, got = ask(head + packed, "Connection: close", answered=links.answered)

    assert len(zlib.decompressobj(31).decompress(body_of(got))) < 20 << 20
    small = gzip.compress(b'<a href="/x">' + bytes(1000))
    _, got = ask(
        head.replace(b"%d" % len(packed), b"%d" % len(small)) + small, "Connection: close", answered=links.answered
    )
    assert gzip.decompress(body_of(got)).startswith(b'<a href="/proxy/x">')


def body_of(got):
    """Return the body of a chunked answer, as far as it has come."""
    rest, body = got.partition(b"\r\n\r\n")[2], b""
    while size := int(rest.partition(b"\r\n")[0] or b"0", 16):
        rest = rest.partition(b"\r\n")[2]
        body, rest = body + rest[:size], rest[size + 2 :]
    return body
