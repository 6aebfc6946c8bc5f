"""A client's connection of HTTP/2: many streams, which one thread reads and any threads open and close.

Bytes are read where it is noticed that they have come (`hyperkube.client.readiness`), and wait in their stream until
its reader takes them: only then may the server send as much again. So a reader that is slow holds up itself alone.
"""

from __future__ import annotations

import http.client
import select
import ssl
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from hyperkube_lib.http2.fields_log import keep_fields_from_the_log

from hyperkube.client.readiness import Readiness
from hyperkube.machinery.clock import SystemClock

STREAM_WINDOW = 1 << 20
"""Bytes that wait in a stream at most."""

CONNECTION_WINDOW = 1 << 26
"""Bytes that wait in all of them; so large that one that is not read does not hold up the others."""

WRITE_SECONDS = 10.0
"""How long a server may take nothing of what is written to it."""

_READ_BYTES = 1 << 16
_CONFIGURATION = H2Configuration(client_side=True, header_encoding="latin-1")
_NOT_YET = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time


class Gone(ConnectionError):
    """The connection takes no more streams, or has not taken this one: it can be opened on another."""


class NotSpoken(OSError):
    """The server does not speak HTTP/2."""


class ClientStream:
    """A request and its answer.

    Attributes:
        number: on the connection.
        status: of the answer; 0 until its head has come.
        headers: of the answer.
        ended: no more comes.
        error: why it broke off.
        ring: called when something comes; nobody waits then.
    """

    __slots__ = ("chunks", "ended", "error", "headers", "number", "ring", "status", "untaken")

    def __init__(self, number: int) -> None:
        self.number = number
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.chunks: list[bytes] = []
        self.untaken = 0
        self.ended = False
        self.error: ConnectionError | None = None
        self.ring: Callable[[], None] | None = None


class ClientConnection:
    """One connection; all methods are thread-safe.

    Args:
        connection: not dialled yet; asks for ``h2`` in the handshake.
        readiness: tells when there is something to read.
        stamp: which credentials it was made with.
    """

    def __init__(
        self, connection: http.client.HTTPConnection, readiness: Readiness, stamp: tuple[tuple[int, int], ...]
    ) -> None:
        self.stamp = stamp
        self._http = connection
        self._address = f"{connection.host}:{connection.port}"
        self._readiness = readiness
        self._changed = threading.Condition()  # reentrant: `wait` takes
        keep_fields_from_the_log()
        self._h2 = H2Connection(_CONFIGURATION)
        self._streams: dict[int, ClientStream] = {}
        self._descriptor = -1
        self._greeted = self._over = False
        self._rings: list[Callable[[], None]] = []

    def dial(self) -> None:
        """Connect, and learn what the server allows.

        Raises:
            NotSpoken: it speaks HTTP/1.1 alone.
            ConnectionError: it is away, or silent.
            OSError: the network is.
        """
        try:
            self._http.connect()
        except ssl.SSLError as error:
            if error.reason and "NO_APPLICATION_PROTOCOL" in error.reason:
                raise NotSpoken(f"{self._address}: no HTTP/2") from error
            raise
        try:
            self._greet()
        except BaseException:
            self._http.close()
            raise
        self._http.sock.settimeout(0)
        with self._changed:  # it may ring before its number is known here
            self._descriptor = self._readiness.add(self._http.sock.fileno(), self._read_on)

    def _greet(self) -> None:
        if cast("ssl.SSLSocket", self._http.sock).selected_alpn_protocol() != "h2":
            raise NotSpoken(f"{self._address}: no HTTP/2")
        self._h2.local_settings = Settings(
            client=True,
            initial_values={SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW, SettingCodes.ENABLE_PUSH: 0},
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(CONNECTION_WINDOW)
        self._http.sock.sendall(self._h2.data_to_send())
        while not self._greeted:
            data = self._http.sock.recv(_READ_BYTES)
            if not data:
                raise ConnectionResetError(f"{self._address}: the server closed the connection")
            self._take_in(data)
        self._http.sock.sendall(self._h2.data_to_send())

    @property
    def is_over(self) -> bool:
        """Whether it is closed."""
        return self._over

    @property
    def has_room(self) -> bool:
        """Whether the server takes one more stream."""
        with self._changed:
            return not self._over and len(self._streams) < self._h2.remote_settings.max_concurrent_streams

    def open(self, target: str, headers: Mapping[str, str], seconds: float) -> ClientStream:
        """Send a GET; return its stream when the head of the answer is there.

        Raises:
            Gone: the connection did not take it.
            ConnectionError: it broke, the head has not come in time, or a header has a line break in it.
        """
        if any("\n" in value or "\r" in value for value in (target, *headers.values())):
            raise ConnectionError(f"{self._address}: a header of the request has a line break in it")
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", self._authority()), (":path", target)]
        fields += [(name.lower(), value) for name, value in headers.items()]
        with self._changed:
            if self._over:
                raise Gone(f"{self._address}: the connection is closed")
            stream = ClientStream(self._h2.get_next_available_stream_id())
            try:
                self._h2.send_headers(stream.number, fields, end_stream=True)
            except ProtocolError as error:  # too many streams by now
                raise Gone(f"{self._address}: {error}") from error
            self._streams[stream.number] = stream
            self._write()
            end = _monotonic() + seconds
            while not stream.status and stream.error is None:
                left = end - _monotonic()
                if left <= 0:
                    self._drop(stream)
                    raise ConnectionError(f"{self._address}: no answer within {seconds:g} s")
                self._changed.wait(left)
            if stream.error is not None and not stream.status:
                raise stream.error
        return stream

    def _authority(self) -> str:
        host = self._http.host
        return f"[{host}]:{self._http.port}" if ":" in host else f"{host}:{self._http.port}"

    def take(self, stream: ClientStream) -> bytes | None:
        """Return what has come of a stream: nothing at its end, None when there is nothing yet.

        Raises:
            ConnectionError: it broke off.
        """
        with self._changed:
            if stream.chunks:
                data = stream.chunks[0] if len(stream.chunks) == 1 else b"".join(stream.chunks)
                stream.chunks.clear()
                size, stream.untaken = stream.untaken, 0
                if not self._over:
                    self._h2.acknowledge_received_data(size, stream.number)
                    self._write()
                return data
            if stream.error is not None:
                raise stream.error
            return b"" if stream.ended else None

    def wait(self, stream: ClientStream, seconds: float | None) -> bytes:
        """Return what comes next of a stream; nothing at its end.

        Raises:
            ConnectionError: it broke off.
            TimeoutError: nothing has come in so many seconds.
        """
        with self._changed:
            end = None if seconds is None else _monotonic() + seconds
            while (data := self.take(stream)) is None:
                left = None if end is None else end - _monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError("timed out")
                self._changed.wait(left)
            return data

    def connect(self, stream: ClientStream, ring: Callable[[], None]) -> None:
        """Have `ring` called when something comes of a stream."""
        with self._changed:
            stream.ring = ring

    def close(self, stream: ClientStream) -> None:
        """End a stream, and with the last one the connection; idempotent."""
        with self._changed:
            stream.ring = None
            if self._streams.get(stream.number) is stream:
                self._drop(stream)
            stream.ended = True
            stream.chunks.clear()
            self._changed.notify_all()

    def _drop(self, stream: ClientStream) -> None:
        del self._streams[stream.number]
        if self._over:
            return
        if not self._streams:
            self._h2.close_connection()
            self._write()
            self._end(Gone(f"{self._address}: closed"))
        elif not stream.ended and stream.error is None:
            self._h2.reset_stream(stream.number, ErrorCodes.CANCEL)
            self._write()

    # the thread that reads

    def _read_on(self) -> None:
        """Take in all that has come."""
        with self._changed:
            try:
                while not self._over:
                    data = self._http.sock.recv(_READ_BYTES)
                    if not data:
                        self._end(ConnectionResetError(f"{self._address}: the server closed the connection"))
                        break
                    self._take_in(data)
            except _NOT_YET:
                self._write()
            except (OSError, ProtocolError, ValueError) as error:  # ValueError: bytes that are no text in a header
                self._end(ConnectionResetError(f"{self._address}: {error}"))
            self._changed.notify_all()
            if not self._over:
                self._readiness.watch_again(self._descriptor)
            rings, self._rings = self._rings, []
        for ring in rings:
            ring()

    def _take_in(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            if isinstance(event, RemoteSettingsChanged):
                self._greeted = True
            elif isinstance(event, ConnectionTerminated):
                # What is under way would go on, but for the library the connection is at its end: a watch that ends is
                # begun anew where it was.
                self._end(Gone(f"{self._address}: the server asks to connect anew"), is_orderly=True)
                return
            else:
                self._take_in_of_stream(event)

    def _take_in_of_stream(self, event: Any) -> None:
        stream = self._streams.get(getattr(event, "stream_id", 0) or 0)
        if stream is None:
            if isinstance(event, DataReceived):
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            return
        if isinstance(event, DataReceived):
            if event.data:  # an empty one would look like the end
                stream.chunks.append(event.data)
            stream.untaken += event.flow_controlled_length
        elif isinstance(event, ResponseReceived):
            stream.headers = {str(name): str(value) for name, value in event.headers}
            stream.status = int(stream.headers[":status"])
        elif isinstance(event, StreamEnded):
            stream.ended = True
        elif isinstance(event, StreamReset):
            kind = Gone if event.error_code == ErrorCodes.REFUSED_STREAM else ConnectionResetError
            stream.error = kind(f"{self._address}: the server broke off the answer")
        if stream.ring is not None and stream.ring not in self._rings:
            self._rings.append(stream.ring)

    def _write(self) -> None:
        """Send what the library has made; a server that takes nothing is given up."""
        out = memoryview(self._h2.data_to_send())
        while out:
            try:
                out = out[self._http.sock.send(out) :]
            except _NOT_YET:
                poll = select.poll()
                poll.register(self._http.sock, select.POLLOUT)
                if not poll.poll(WRITE_SECONDS * 1000):
                    self._end(ConnectionResetError(f"{self._address}: the server reads nothing"))
                    return
            except OSError as error:
                self._end(ConnectionResetError(f"{self._address}: {error}"))
                return

    def _end(self, error: ConnectionError, *, is_orderly: bool = False) -> None:
        """Close the socket; all streams end with it, or break off."""
        if self._over:
            return
        self._over = True
        for stream in self._streams.values():
            if is_orderly and stream.status:
                stream.ended = True
            elif not stream.ended and stream.error is None:
                stream.error = error
            if stream.ring is not None:
                stream.ring()  # under the lock: it only marks a task as due
        if self._descriptor >= 0:
            self._readiness.remove(self._descriptor)
        self._http.close()
        self._changed.notify_all()
