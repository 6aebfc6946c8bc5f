"""A toy server behind a real edge that speaks HTTP/2, and a client that sends what a test wants, byte by byte."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from hyperkube_lib.http2.serving import Http2Serving
from hyperkube_lib.serving import certificates
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.tls import TlsFiles
from hyperkube_testing.peers.toy_server import QueueSource, Toy


class Peer:
    """A client: frames of the library's making, and any others.

    Attributes:
        bodies: what has come on each stream.
        heads: the fields of each answer.
        ended: streams that came to their end.
        reset: streams that were reset, with the code.
        goaway: the code with which the server said goodbye, None until it does.
    """

    def __init__(self, edge: Edge, protocols: list[str], *, opens_windows: bool = True) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(protocols)
        self.sock = context.wrap_socket(socket.create_connection(("127.0.0.1", edge.port), timeout=20))
        self.protocol = self.sock.selected_alpn_protocol()
        self.h2 = H2Connection(
            H2Configuration(client_side=True, validate_outbound_headers=False, normalize_outbound_headers=False)
        )
        self.opens_windows = opens_windows
        self.bodies: dict[int, bytes] = {}
        self.heads: dict[int, dict[str, str]] = {}
        self.ended: set[int] = set()
        self.reset: dict[int, int] = {}
        self.goaway: int | None = None

    def greet(self) -> Peer:
        self.h2.initiate_connection()
        self.flush()
        return self

    def flush(self) -> None:
        self.sock.sendall(self.h2.data_to_send())

    def ask(self, path: str, *fields: tuple[str, str], method: str = "GET", end: bool = True) -> int:
        """Send the head of a request; return its stream."""
        number = self.h2.get_next_available_stream_id()
        pseudo = [(":method", method), (":scheme", "https"), (":authority", "toy"), (":path", path)]
        self.h2.send_headers(number, [*pseudo, *fields], end_stream=end)
        self.flush()
        return number

    def send(self, number: int, data: bytes, *, end: bool = False) -> None:
        self.h2.send_data(number, data, end_stream=end)
        self.flush()

    def frame(self, kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
        return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload

    def read(self) -> bool:
        """Take in what comes next; tell whether there was anything."""
        try:
            data = self.sock.recv(65536)
        except ConnectionError:
            return False
        for event in self.h2.receive_data(data) if data else []:
            self._note(event)
        if self.opens_windows and self.goaway is None:
            try:
                self.flush()
            except OSError:
                return False
        return bool(data)

    def _note(self, event: Event) -> None:
        number: int = getattr(event, "stream_id", 0) or 0
        if isinstance(event, ResponseReceived):
            self.heads[number] = {_text(name): _text(value) for name, value in event.headers}
        elif isinstance(event, DataReceived):
            self.bodies[number] = self.bodies.get(number, b"") + event.data
            if self.opens_windows:
                self.h2.acknowledge_received_data(event.flow_controlled_length, number)
        elif isinstance(event, StreamEnded):
            self.ended.add(number)
        elif isinstance(event, StreamReset):
            self.reset[number] = int(event.error_code)
        elif isinstance(event, ConnectionTerminated):
            self.goaway = int(event.error_code)

    def until(self, ready: Callable[[], bool]) -> None:
        while not ready():
            assert self.read(), "the server has closed"

    def answer(self, number: int) -> tuple[int, bytes]:
        self.until(lambda: number in self.ended)
        return int(self.heads[number][":status"]), self.bodies.get(number, b"")

    def rest(self) -> None:
        """Read to the end of the connection."""
        while self.read():
            pass

    def close(self) -> None:
        self.sock.close()


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode()


@pytest.fixture
def toy() -> Toy:
    return Toy()


@pytest.fixture
def source() -> QueueSource:
    return QueueSource()


@pytest.fixture
def new_source() -> type[QueueSource]:
    return QueueSource


@pytest.fixture
def tls(tmp_path: Path) -> TlsFiles:
    ca = certificates.make_ca("kubernetes")
    cert, key, ca_file = tmp_path / "server.crt", tmp_path / "server.key", tmp_path / "ca.crt"
    certificates.write_public(ca_file, ca.certificate)
    certificates.issue(ca, "server", dns=["localhost"], ips=["127.0.0.1"], server=True).write(cert, key)
    return TlsFiles(cert_file=str(cert), key_file=str(key), client_ca_file=str(ca_file))


@pytest.fixture
def start(toy: Toy, tls: TlsFiles) -> Iterator[Callable[..., Edge]]:
    """Start an edge for the toy that speaks HTTP/2."""
    edges: list[Edge] = []

    def begin(*, limits: EdgeLimits | None = None, http2: Http2Serving | None = None, **options: Any) -> Edge:
        edge = Edge(toy, tls=tls, limits=limits or EdgeLimits(workers=8), negotiated=http2 or Http2Serving(), **options)
        edge.start()
        edges.append(edge)
        return edge

    yield begin
    for edge in edges:
        edge.close(0.2)


@pytest.fixture
def connect() -> Iterator[Callable[..., Peer]]:
    """Connect a client that offers HTTP/2 alone, unless told, and greet."""
    peers: list[Peer] = []

    def begin(edge: Edge, *protocols: str, greets: bool = True, **options: Any) -> Peer:
        peer = Peer(edge, list(protocols) or ["h2"], **options)
        peers.append(peer)
        return peer.greet() if greets and peer.protocol == "h2" else peer

    yield begin
    for peer in peers:
        peer.close()
