"""exec, attach and port-forward over SPDY streams.

Every stream says in its headers what it is for: ``streamtype`` is error, stdin, stdout, stderr or resize; for
port-forward data or error, with ``port`` and ``requestid``. Source: kubernetes apimachinery ``pkg/util/httpstream``
and the kubelet's ``pkg/cri/streaming/remotecommand`` and ``.../portforward``.
"""

from __future__ import annotations

import queue
import re
from collections.abc import Callable

from hyperkube_lib.serving.exchange import ExecUpgrade, ForwardedConnection
from hyperkube_lib.serving.service import Service
from hyperkube_lib.serving.spdy_session import SpdySession, SpdyStream
from hyperkube_lib.serving.upgraded import ByteLink

EXEC_PROTOCOLS = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
FORWARD_PROTOCOL = "portforward.k8s.io"

STREAMS_TIMEOUT = 30.0
"""Seconds within which a client must open the streams it has asked for."""

_PORT = re.compile("[0-9]{1,5}")
_NUMBERS = {"stdin": 0, "stdout": 1, "stderr": 2, "error": 3, "resize": 4}


class SpdyChannels:
    """`Channels` over one stream per channel; `ready` is called on the loop once all expected ones are open."""

    def __init__(
        self, link: ByteLink, service: Service, upgrade: ExecUpgrade, protocol: str, ready: Callable[[], None]
    ) -> None:
        self.protocol = protocol
        self._ready = ready
        self._started = False
        self._streams: dict[int, SpdyStream] = {}
        self._expected = {3}
        if upgrade.stdin:
            self._expected.add(0)
        if upgrade.stdout:
            self._expected.add(1)
        if upgrade.stderr and not upgrade.tty:
            self._expected.add(2)
        if upgrade.tty and protocol in EXEC_PROTOCOLS[:2]:
            self._expected.add(4)
        self.session = SpdySession(link, service, opened=self._opened, ended=self._ended)
        service.loop.asyncio.call_later(STREAMS_TIMEOUT, self._give_up)

    def read(self, channel: int) -> bytes:
        """Return the next bytes of a channel; nothing when the client has closed or never opened it."""
        stream = self._streams.get(channel)
        return stream.read() if stream is not None else b""

    def write(self, channel: int, data: bytes) -> None:
        """Send bytes on a channel; dropped on one that the client did not open.

        Raises:
            ConnectionError: the client is gone.
        """
        stream = self._streams.get(channel)
        if stream is not None:
            stream.write(data)

    def close(self) -> None:
        """Flush and end the connection."""
        self.session.post(self.session.close)

    def _opened(self, stream: SpdyStream) -> None:
        number = _NUMBERS.get(stream.headers.get("streamtype", ""))
        if number is None or number in self._streams:
            self.session.reset_stream(stream)
            return
        self._streams[number] = stream
        if not self._started and self._expected <= self._streams.keys():
            self._started = True
            self._ready()

    def _ended(self) -> None:
        """The session has ended the inboxes; a session that has not begun never will."""
        self._started = True

    def _give_up(self) -> None:
        if not self._started:
            self.session.close()


class SpdyForward:
    """One forwarded connection: a data and an error stream."""

    def __init__(self, port: int, data: SpdyStream, error: SpdyStream) -> None:
        self.port = port
        self._data = data
        self._error = error

    def read(self) -> bytes:
        """Return the client's next bytes, or nothing when it closed its side."""
        return self._data.read()

    def write(self, data: bytes) -> None:
        """Send bytes to the client.

        Raises:
            ConnectionError: the client is gone, or has closed this connection.
        """
        self._data.write(data)

    def fail(self, message: str) -> None:
        """Report an error; kubectl prints it and drops the connection."""
        self._error.write(message.encode())

    def close(self) -> None:
        """End both streams."""
        self._error.finish()
        self._data.finish()


class SpdyPortStreams:
    """`PortStreams` over pairs of SPDY streams."""

    def __init__(self, link: ByteLink, service: Service) -> None:
        self._service = service
        self._arrived: queue.SimpleQueue[ForwardedConnection | None] = queue.SimpleQueue()
        self._halves: dict[str, dict[str, SpdyStream]] = {}
        self.session = SpdySession(link, service, opened=self._opened, ended=lambda: self._arrived.put(None))

    def accept(self) -> ForwardedConnection | None:
        """Return the next connection the client opens, or None at the end."""
        return self._arrived.get()

    def close(self) -> None:
        """End all streams and the connection."""
        self.session.post(self.session.close)

    def _opened(self, stream: SpdyStream) -> None:
        kind, port = stream.headers.get("streamtype", ""), stream.headers.get("port", "")
        if kind not in {"data", "error"} or not _PORT.fullmatch(port) or not 0 < int(port) < 65536:
            self.session.reset_stream(stream)
            return
        # clients older than the request id open the error stream first and the data stream right after it
        fallback = str(stream.number if kind == "error" else stream.number - 2)
        request = stream.headers.get("requestid", fallback)
        if request not in self._halves:
            self._halves[request] = {}
            self._service.loop.asyncio.call_later(STREAMS_TIMEOUT, self._give_up, request, self._halves[request])
        halves = self._halves[request]
        if kind in halves:
            self.session.reset_stream(stream)
            return
        halves[kind] = stream
        if len(halves) == 2:
            del self._halves[request]
            self._arrived.put(SpdyForward(int(port), halves["data"], halves["error"]))

    def _give_up(self, request: str, halves: dict[str, SpdyStream]) -> None:
        """Wait no longer for the other stream of a connection."""
        if self._halves.get(request) is halves:
            del self._halves[request]
            for stream in halves.values():
                self.session.reset_stream(stream)
