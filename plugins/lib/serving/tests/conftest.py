"""A toy server behind a real edge, and small clients that speak to it byte by byte."""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hyperkube_lib.serving import certificates
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.limits import EdgeLimits
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.tls import TlsFiles
from hyperkube_testing.peers.toy_server import QueueSource, Toy

sys.path.insert(0, str(Path(__file__).parent))  # what its tests share

if TYPE_CHECKING:
    import websocket


class RawClient:
    """A socket that sends bytes and reads answers."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.buffer = b""

    def send(self, data: bytes | str) -> None:
        self.sock.sendall(data.encode() if isinstance(data, str) else data)

    def get(self, path: str, *headers: str, method: str = "GET") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: toy", *headers, "", ""]
        self.send("\r\n".join(lines))

    def upgrade(self, path: str, *protocols: str) -> None:
        """Ask for a WebSocket."""
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        lines = ["Connection: Upgrade", "Upgrade: websocket", key, "Sec-WebSocket-Version: 13"]
        if protocols:
            lines.append(f"Sec-WebSocket-Protocol: {', '.join(protocols)}")
        self.get(path, *lines)

    def until(self, end: bytes) -> bytes:
        while end not in self.buffer:
            data = self.sock.recv(65536)
            if not data:
                raise EOFError(self.buffer)
            self.buffer += data
        cut = self.buffer.index(end) + len(end)
        found, self.buffer = self.buffer[:cut], self.buffer[cut:]
        return found

    def exactly(self, count: int) -> bytes:
        while len(self.buffer) < count:
            data = self.sock.recv(65536)
            if not data:
                raise EOFError(self.buffer)
            self.buffer += data
        found, self.buffer = self.buffer[:count], self.buffer[count:]
        return found

    def head(self) -> tuple[int, dict[str, str]]:
        lines = self.until(b"\r\n\r\n").decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:] if line)
        return int(lines[0].split()[1]), {name.lower(): value for name, value in fields.items()}

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        status, headers = self.head()
        return status, headers, self.exactly(int(headers.get("content-length", "0")))

    def chunk(self) -> bytes:
        size = int(self.until(b"\r\n"), 16)
        return self.exactly(size + 2)[:-2]

    def rest(self) -> bytes:
        try:
            while data := self.sock.recv(65536):
                self.buffer += data
        except ConnectionError:
            pass
        found, self.buffer = self.buffer, b""
        return found

    def close(self) -> None:
        self.sock.close()


@pytest.fixture
def toy() -> Toy:
    return Toy()


@pytest.fixture
def new_toy() -> type[Toy]:
    return Toy


@pytest.fixture
def start(toy: Toy) -> Iterator[Callable[..., Edge]]:
    """Start an edge for the toy, or for another handler."""
    edges: list[Edge] = []

    def begin(handler: Any = None, **options: Any) -> Edge:
        edge = Edge(handler or toy, **options)
        edge.start()
        edges.append(edge)
        return edge

    yield begin
    for edge in edges:
        edge.close(0.2)


@pytest.fixture
def edge(start: Callable[..., Edge]) -> Edge:
    return start(limits=EdgeLimits(workers=8))


@pytest.fixture
def connect() -> Iterator[Callable[[Edge], RawClient]]:
    clients: list[RawClient] = []

    def begin(edge: Edge, context: ssl.SSLContext | None = None) -> RawClient:
        sock = socket.create_connection(("127.0.0.1", edge.port), timeout=60)
        if context is not None:
            sock = context.wrap_socket(sock, server_hostname="localhost")
        client = RawClient(sock)
        clients.append(client)
        return client

    yield begin
    for client in clients:
        client.close()


@pytest.fixture
def ws() -> Iterator[Callable[..., websocket.WebSocket]]:
    """Connect a WebSocket to a path, offering sub-protocols."""
    library = pytest.importorskip("websocket", reason="needs a client that speaks WebSocket")
    clients: list[websocket.WebSocket] = []

    def begin(edge: Edge, path: str, *protocols: str) -> websocket.WebSocket:
        url = f"ws://127.0.0.1:{edge.port}{path}"
        clients.append(library.create_connection(url, subprotocols=list(protocols) or None, timeout=60))
        return clients[-1]

    yield begin
    for client in clients:
        client.shutdown()


@pytest.fixture
def source() -> QueueSource:
    return QueueSource()


@pytest.fixture
def new_source() -> Callable[[], QueueSource]:
    return QueueSource


@dataclass
class Pki:
    """Certificate files of a small cluster."""

    folder: Path
    ca: certificates.KeyPair

    @property
    def ca_file(self) -> str:
        return str(self.folder / "ca.crt")

    def issue(self, name: str, **options: Any) -> tuple[str, str]:
        cert, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificates.issue(self.ca, name, **options).write(cert, key)
        return str(cert), str(key)

    def server_tls(self, **options: Any) -> TlsFiles:
        cert, key = self.issue("server", dns=["localhost"], ips=["127.0.0.1"], server=True)
        return TlsFiles(cert_file=cert, key_file=key, client_ca_file=self.ca_file, **options)


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    ca = certificates.make_ca("kubernetes")
    certificates.write_public(tmp_path / "ca.crt", ca.certificate)
    return Pki(tmp_path, ca)


@pytest.fixture
def loop() -> Iterator[EdgeLoop]:
    """A loop that runs."""
    made = EdgeLoop()
    made.start()
    yield made
    made.close()
