"""The client port: gRPC and plain HTTP on one address, told apart by the first bytes.

HTTP/2 begins with a preface of its own; such a connection is relayed to the gRPC server's socket. Anything else is one
request of HTTP/1.1, for ``/health`` or ``/version``, and gets one answer. A client has one connection for all its calls
and watches, so that two threads for each are few.

Source: RFC 9113 section 3.4; etcd ``server/etcdserver/api/etcdhttp``.
"""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import threading
from collections.abc import Callable

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

PREFACE = b"PRI "
"""How HTTP/2 begins; no method of HTTP/1.1 does."""
_CHUNK = 65536
_LONGEST_HEAD = 16384
_HEAD_SECONDS = 10.0
"""How long a client may take to say what it wants."""
MOST_CONNECTIONS = 1000
_SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED})
"""What keeps one connection from being taken, and passes; on anything else the listener is gone."""
_PAUSE_SECONDS = 0.1


class Front:
    """Listens for clients: a thread for each address, and two for each connection."""

    def __init__(
        self,
        addresses: list[tuple[str, int]],
        socket_path: str,
        version: str,
        healthy: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self._addresses = addresses
        self._socket_path = socket_path
        self._version = json.dumps({"etcdserver": version, "etcdcluster": version.rpartition(".")[0] + ".0"}).encode()
        self._healthy = healthy
        self._clock = clock
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()  # listeners and connections, to be shut down at the end
        self._closed = False

    def start(self) -> None:
        """Listen on all addresses.

        Raises:
            UsageError: one is taken.
        """
        for host, port in self._addresses:
            try:
                listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
            except OSError as error:
                self.close()
                raise UsageError(f"cannot listen on {host}:{port}: {error.strerror}") from error
            self._keep(listener)
            threading.Thread(target=self._accept, args=(listener,), name=f"etcd-{port}", daemon=True).start()

    def close(self) -> None:
        """Listen no more, and end all connections; their threads close them."""
        with self._lock:
            self._closed = True
            sockets = list(self._open)
        for each in sockets:
            with contextlib.suppress(OSError):  # it ended by itself meanwhile
                each.shutdown(socket.SHUT_RDWR)

    def _keep(self, each: socket.socket) -> bool:
        """Remember a socket; tell whether there is still use for it, and room."""
        with self._lock:
            self._open.add(each)
            return not self._closed and len(self._open) <= MOST_CONNECTIONS

    def _drop(self, each: socket.socket) -> None:
        with self._lock:
            self._open.discard(each)
        each.close()

    def _accept(self, listener: socket.socket) -> None:
        try:
            while True:
                connection = self._next(listener)
                if connection is None:
                    continue
                if not self._keep(connection):
                    self._drop(connection)
                    continue
                threading.Thread(target=self._serve, args=(connection,), name="etcd-client", daemon=True).start()
        except OSError:
            return  # shut down by `close`
        finally:
            self._drop(listener)

    def _next(self, listener: socket.socket) -> socket.socket | None:
        """Return the next connection; None if there is none to be had just now.

        Raises:
            OSError: the listener was shut down.
        """
        try:
            return listener.accept()[0]
        except OSError as error:
            if error.errno not in _SHORTAGES:
                raise
            self._clock.sleep(_PAUSE_SECONDS)
            return None

    def _serve(self, client: socket.socket) -> None:
        try:
            ends = self._clock.monotonic() + _HEAD_SECONDS
            head = b""
            while len(head) < len(PREFACE) and (data := self._received(client, ends)):
                head += data
            if head.startswith(PREFACE):
                client.settimeout(None)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._relay(head, client)
            elif head:
                self._answer(head, client, ends)
        except OSError:
            return  # the client left, or took too long
        finally:
            self._drop(client)

    def _received(self, client: socket.socket, ends: float) -> bytes:
        """Return what comes next of a head; nothing when its time is over."""
        left = ends - self._clock.monotonic()
        if left <= 0:
            return b""
        client.settimeout(left)
        return client.recv(_CHUNK)

    def _relay(self, head: bytes, client: socket.socket) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            other.connect(self._socket_path)
            other.sendall(head)
            back = threading.Thread(target=_pump, args=(other, client), name="etcd-answers", daemon=True)
            back.start()
            _pump(client, other)
            back.join()

    def _answer(self, head: bytes, client: socket.socket, ends: float) -> None:
        while b"\r\n\r\n" not in head and len(head) < _LONGEST_HEAD and (data := self._received(client, ends)):
            head += data
        path = head.split(b"\r\n", 1)[0].split(b" ")[1:2]
        status, body = b"404 Not Found", b"404 page not found\n"
        if path == [b"/version"]:
            status, body = b"200 OK", self._version
        elif path == [b"/health"]:
            is_well = self._healthy()
            status = b"200 OK" if is_well else b"503 Service Unavailable"
            body = b'{"health":"true","reason":""}' if is_well else b'{"health":"false","reason":"STORE"}'
        shape = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
        client.sendall(shape % (status, len(body)) + body)


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Copy until either side ends; then both are shut down, so that the other direction ends, too."""
    with contextlib.suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
