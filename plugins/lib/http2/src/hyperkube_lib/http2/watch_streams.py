"""Watches as streams: all that a client watches shares one connection of HTTP/2; its requests stay on HTTP/1.1.

A watch over HTTP/1.1 is a connection, which takes 36 KiB of the API server over TLS and as much of the client. A
kubelet has a dozen, and one for each Secret and ConfigMap that its pods use.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from hyperkube.client.client import RawResponse, Watch
from hyperkube.client.http_watch import HttpWatch
from hyperkube.client.readiness import Readiness
from hyperkube.client.wire import as_connection_error
from hyperkube.machinery.clock import SystemClock

if TYPE_CHECKING:
    from hyperkube_lib.http2.client_connection import ClientConnection, ClientStream

    from hyperkube.client.connection_pool import ConnectionPool
    from hyperkube.client.exchange import Stream

ANSWER_SECONDS = 60.0
"""Within which the head of an answer must come, and a refusal's body."""

REFUSAL_BYTES = 1 << 20
"""Of a refusal's body that are read."""

AGAIN_SECONDS = 600.0
"""After which a server that did not speak HTTP/2 is asked again."""

_TRIES = 4
_UNUSED = Readiness("none")
"""Of watches that wait for no socket of their own; it has no thread."""
_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time


class Http2Streams:
    """The connections of one client; calling it opens a stream, see `hyperkube.client.http_watch.OpenStream`.

    Args:
        pool: of the client: where to dial, and how.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._readiness = Readiness("watches")
        self._connections: list[ClientConnection] = []
        self._not_before = 0.0
        self._stamp = pool.stamp
        # Now, as the files with its keys may be gone later.
        self._context = self._own_context() if pool.context is not None and Readiness.is_available else None

    def __call__(self, target: str, headers: Mapping[str, str], silence: float | None) -> Watch | RawResponse | None:
        """Begin a watch on a stream; return the answer to one that is refused, None if the server speaks HTTP/1.1.

        Raises:
            ConnectionError: the server is away, or does not answer.
        """
        if self._context is None:
            return None
        from hyperkube_lib.http2.client_connection import Gone

        for _ in range(_TRIES):
            connection = self._connection()
            if connection is None:
                return None
            try:
                stream = connection.open(target, headers, ANSWER_SECONDS)
            except Gone:
                continue
            if stream.status == HTTPStatus.OK:
                return StreamWatch(connection, stream, self._pool, silence)
            return _refusal(connection, stream)
        raise ConnectionError(f"{self._pool.address}: every connection was closed again at once")

    def _connection(self) -> ClientConnection | None:
        """Return a connection with room for a stream; one is dialled at a time, so that those who wait share it."""
        from hyperkube_lib.http2.client_connection import ClientConnection, NotSpoken

        pool = self._pool
        with self._lock:
            self._connections = [one for one in self._connections if not one.is_over]
            for connection in self._connections:
                if connection.stamp == pool.stamp and connection.has_room:
                    return connection
            if _monotonic() < self._not_before:
                return None
            if self._stamp != pool.stamp:  # the client's certificate was renewed
                self._context, self._stamp = self._own_context(), pool.stamp
            connection = ClientConnection(pool.fresh(self._context), self._readiness, pool.stamp)
            try:
                with as_connection_error(pool.address):
                    connection.dial()
            except ConnectionError as error:
                if isinstance(error.__cause__, NotSpoken):
                    self._not_before = _monotonic() + AGAIN_SECONDS
                    return None
                raise
            self._connections.append(connection)
            return connection

    def _own_context(self) -> ssl.SSLContext:
        context = self._pool.tls.context()
        context.set_alpn_protocols(["h2"])
        return context


def _refusal(connection: ClientConnection, stream: ClientStream) -> RawResponse:
    """Return a whole answer, as far as it is read."""
    body = bytearray()
    try:
        while len(body) < REFUSAL_BYTES and (data := connection.wait(stream, ANSWER_SECONDS)):
            body += data
    finally:
        connection.close(stream)
    return RawResponse(stream.status, stream.headers, bytes(body))


class _Body:
    """What a watch reads from."""

    def __init__(self, connection: ClientConnection, stream: ClientStream, silence: float | None) -> None:
        self.connection = connection
        self.stream = stream
        self._silence = silence

    def read(self) -> bytes | None:
        """Return what has come; wait for it unless there is someone to ring."""
        if self.stream.ring is not None:
            return self.connection.take(self.stream)
        return self.connection.wait(self.stream, self._silence)


class StreamWatch(HttpWatch):
    """A watch on a stream of a connection."""

    def __init__(
        self, connection: ClientConnection, stream: ClientStream, pool: ConnectionPool, silence: float | None
    ) -> None:
        self._body = _Body(connection, stream, silence)
        # A connection that is never dialled stands for the address alone.
        super().__init__(pool.fresh(), cast("Stream", self._body), _UNUSED, silence)

    def connect(self, ring: Callable[[], None]) -> None:
        """Have `ring` called when there is something to take; from now on nothing waits for the server."""
        self._body.connection.connect(self._body.stream, ring)
        ring()  # a piece of the body may have come with the head

    def close(self) -> None:
        """End the iteration; idempotent, from any thread."""
        self._closed = True
        self._body.connection.close(self._body.stream)
