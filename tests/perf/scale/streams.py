"""Watches of a node over one connection of HTTP/2, as real kubelets have them; requests go over HTTP/1.1 beside it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset
from h2.exceptions import ProtocolError

_STREAM_WINDOW, _CONNECTION_WINDOW = 1 << 20, 1 << 24
_OK, _CANCEL = 200, 8
_CONFIGURATION = H2Configuration(client_side=True, header_encoding="latin-1")


class _Stream:
    """An answer: `feed` takes the pieces of its body, `whole` has its status in the end."""

    def __init__(self, feed: Callable[[bytes], None]) -> None:
        self.feed = feed
        self.status = 0
        self.whole: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(self, error: Exception | None = None) -> None:
        if self.whole.done():
            return
        if error is None:
            self.whole.set_result(self.status)
        else:
            self.whole.set_exception(error)


class _Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self.h2 = H2Connection(_CONFIGURATION)
        self.streams: dict[int, _Stream] = {}
        self.is_over = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  a TLS transport is one
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(_CONNECTION_WINDOW)
        self.write()

    def write(self) -> None:
        if self._transport is not None and (data := self.h2.data_to_send()):
            self._transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        for stream in self.streams.values():
            stream.end(ConnectionResetError("the server closed the connection"))
        self.streams.clear()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self.h2.receive_data(data):
                if isinstance(event, ConnectionTerminated):
                    self.is_over = True
                    self.abort()
                    return
                self._take(event)
        except ProtocolError:
            self.abort()
            return
        self.write()

    def _take(self, event: object) -> None:
        stream = self.streams.get(getattr(event, "stream_id", 0) or 0)
        if isinstance(event, DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if stream is not None and stream.status == _OK and event.data:
                stream.feed(event.data)
        elif stream is None:
            return
        elif isinstance(event, ResponseReceived):
            stream.status = int(dict(event.headers)[":status"])
        elif isinstance(event, StreamEnded):
            stream.end()
        elif isinstance(event, StreamReset):
            stream.end(ConnectionResetError("the server broke off the watch"))

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Streams:
    """The watches of one node on one API server.

    Args:
        base: the server's URL.
        trust: a context that offers ``h2`` alone.
    """

    def __init__(self, base: str, trust: ssl.SSLContext) -> None:
        self._address = urlsplit(base)
        self._trust = trust
        self._lock = asyncio.Lock()
        self._connection: _Connection | None = None

    async def follow(self, target: str, headers: Mapping[str, str], feed: Callable[[bytes], None]) -> int:
        """Give the body of an answer to `feed`, piece by piece; return its status in the end.

        Raises:
            ConnectionError: it broke off.
        """
        connection = await self._connected()
        number = connection.h2.get_next_available_stream_id()
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", self._address.netloc), (":path", target)]
        connection.h2.send_headers(number, [*fields, *headers.items()], end_stream=True)
        stream = connection.streams[number] = _Stream(feed)
        connection.write()
        try:
            return await stream.whole
        finally:
            goes_on = stream.whole.cancelled() or not stream.whole.done()  # it is cancelled with its task
            if connection.streams.pop(number, None) is not None and goes_on and not connection.is_over:
                connection.h2.reset_stream(number, _CANCEL)
                connection.write()

    async def _connected(self) -> _Connection:
        async with self._lock:
            if self._connection is None or self._connection.is_over:
                loop = asyncio.get_running_loop()
                try:
                    _, self._connection = await loop.create_connection(
                        _Connection, self._address.hostname, self._address.port, ssl=self._trust
                    )
                except OSError as error:
                    raise ConnectionError(str(error)) from error
            return self._connection
