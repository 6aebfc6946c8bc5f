"""Watches over HTTP, as lines of JSON: each on a thread of its own, or many that one thread looks at in passing.

Source of the form: kubernetes apimachinery ``pkg/watch``, ``pkg/runtime/serializer/streaming``.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import orjson

from hyperkube.client.client import RawResponse, Taken, Watch, WatchEvent
from hyperkube.client.exchange import Stream
from hyperkube.client.readiness import Readiness
from hyperkube.client.wire import as_connection_error
from hyperkube.machinery.clock import SystemClock

TAKEN_BYTES = 1 << 18
"""How much is taken of a watch at a time: then it is another one's turn."""
OpenStream: TypeAlias = Callable[[str, Mapping[str, str], float | None], Watch | RawResponse | None]
"""Begins the watch of a target with headers and `HttpWatch`'s `silence` on a connection that many share (HTTP/2).

Returns the answer to one that is refused, None if the server speaks HTTP/1.1; raises ConnectionError.
"""
_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time


class HttpWatch:
    """A watch on one connection of its own; implements `hyperkube.client.client.QuietWatch`.

    Args:
        connection: carries nothing else.
        stream: the answer, whose head has come.
        readiness: tells when there is something to take.
        silence: after how many seconds without a byte the connection counts as broken; None for never.
    """

    def __init__(
        self, connection: http.client.HTTPConnection, stream: Stream, readiness: Readiness, silence: float | None
    ) -> None:
        self._connection = connection
        self._address = f"{connection.host}:{connection.port}"
        self._stream = stream
        self._readiness = readiness
        self._silence = silence
        self._rest = b""
        self._lock = threading.Lock()
        self._closed = False
        self._descriptor: int | None = None
        self._heard = _monotonic()

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the server or `close` ends the watch.

        Raises:
            ConnectionError: the connection broke or was silent too long.
        """
        try:
            while data := self._read():
                for event in self._events(data):
                    if self._closed:
                        return
                    yield event
        finally:
            self.close()
            self._connection.close()

    def connect(self, ring: Callable[[], None]) -> None:
        """Have `ring` called when there is something to take; from now on nothing waits for the server."""
        with self._lock:
            if self._closed:
                return
            self._connection.sock.settimeout(0)
            self._descriptor = self._readiness.add(self._connection.sock.fileno(), ring)
        ring()  # a piece of the body may have come with the head, and is no longer in the socket

    def take(self) -> Taken:
        """Return what there is by now, without waiting.

        Raises:
            ConnectionError: the connection broke or was silent too long.
        """
        events: list[WatchEvent] = []
        left = TAKEN_BYTES
        with self._lock:
            while left > 0 and not self._closed:
                data = self._read()
                if data is None:
                    return self._resting(events)
                if not data:
                    return Taken(events, ended=True)
                left -= len(data)
                events += self._events(data)
            return Taken(events, ended=self._closed)

    def _resting(self, events: list[WatchEvent]) -> Taken:
        """Return what was taken; if that is nothing, wait for the next bytes, but not for ever."""
        now = _monotonic()
        if events:
            self._heard = now
            return Taken(events)
        left = 0.0 if self._silence is None else self._heard + self._silence - now
        if self._silence is not None and left <= 0:
            raise ConnectionError(f"{self._address}: nothing has come for {self._silence:g} s")
        if self._descriptor is not None:
            self._readiness.watch_again(self._descriptor)
        return Taken((), seconds=left or self._silence or 3600.0)

    def _events(self, data: bytes) -> list[WatchEvent]:
        *lines, self._rest = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        events = map(orjson.loads, filter(None, lines))
        return [WatchEvent(event["type"], event["object"]) for event in events]

    def _read(self) -> bytes | None:
        try:
            with as_connection_error(self._address):
                return self._stream.read()
        except ConnectionError:
            if self._closed:
                return b""
            raise

    def close(self) -> None:
        """End the iteration; idempotent, from any thread."""
        if self._descriptor is None:
            self._close_under_read()
            return
        with self._lock:  # nobody waits in there
            if not self._closed:
                self._closed = True
                self._readiness.remove(self._descriptor)
                self._connection.close()

    def _close_under_read(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sock = self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):  # the server was faster
                # not SSLSocket.shutdown: that takes the TLS state away from under the reading thread
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
