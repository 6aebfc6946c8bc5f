"""WebSocket for servers: the handshake, messages in and out, and the Kubernetes channels on top.

A message of a channel protocol is one byte of channel number and then data; in the ``base64`` variants it is text: a
digit and then base64. Version 5 adds a message that closes one channel: byte 255 and the channel's number.
Source: kubernetes apimachinery ``pkg/util/httpstream/wsstream``, ``pkg/util/remotecommand/constants.go``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.flow import Inbox
from hyperkube_lib.serving.service import Service
from hyperkube_lib.serving.upgraded import FRAMES_PER_TURN, Upgraded

CHANNELS = (
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
)
"""Sub-protocols for exec and attach; a client that names none gets ``channel.k8s.io``'s framing."""

BEARER_PREFIX = "base64url.bearer.authorization.k8s.io."
"""A sub-protocol that is really a token; never agreed to."""

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_LONGEST_MESSAGE = 16 << 20
_CLOSE_CHANNEL = 255
STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)

STREAMS_SECONDS = 0.05
"""How long the first message waits for the client to make its streams; kubectl before 1.33 drops what is earlier."""


def offered_protocols(request: HttpRequest) -> list[str]:
    """Return the sub-protocols a client offers, in its order, tokens left out."""
    header = request.headers.get("sec-websocket-protocol", "")
    names = [name.strip() for name in header.split(",")]
    return [name for name in names if name and not name.startswith(BEARER_PREFIX)]


def choose_protocol(request: HttpRequest, known: Sequence[str]) -> str | None:
    """Return the first offered sub-protocol that is known; the empty one if none is offered; None if none fits."""
    offered = offered_protocols(request)
    if not offered:
        return ""
    return next((name for name in offered if name in known), None)


def greeting(request: HttpRequest, protocol: str) -> bytes | None:
    """Return the answer that completes the handshake, or None if the request is no proper one (RFC 6455, 4.2)."""
    key = request.headers.get("sec-websocket-key", "").strip()
    if request.method != "GET" or not key or request.headers.get("sec-websocket-version", "").strip() != "13":
        return None
    accept = base64.b64encode(hashlib.sha1((key + _MAGIC).encode()).digest())  # noqa: S324  the RFC's choice, no secret
    lines = [b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade"]
    lines.append(b"Sec-WebSocket-Accept: " + accept)
    if protocol:
        lines.append(b"Sec-WebSocket-Protocol: " + protocol.encode())
    return b"\r\n".join(lines) + b"\r\n\r\n"


class WebSocket(Upgraded):
    """A connection after the WebSocket handshake; hands whole messages to its listener, text as UTF-8."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        from wsproto.connection import Connection, ConnectionType

        self._frames: Any = Connection(ConnectionType.SERVER)
        self._events: Iterator[Any] | None = None
        self._message = bytearray()
        self._closed_by_us = False

    def data_received(self, data: bytes) -> None:
        """Take frames apart and messages together."""
        from wsproto.utilities import ProtocolError

        self.active()
        try:
            self._frames.receive_data(data)
        except ProtocolError as error:
            self._break_off(error)
            return
        if self._events is None:  # else they come to it, too
            self._events = self._frames.events()
            self._take_turn()

    def _take_turn(self) -> None:
        """Handle some frames; while more of them wait for the loop's next turn, nothing is read."""
        from wsproto.utilities import ProtocolError

        if self._events is None or self._transport is None:
            return
        count = 0
        try:
            for count, event in enumerate(islice(self._events, FRAMES_PER_TURN), 1):  # noqa: B007  how many, afterwards
                self._handle(event)
        except ProtocolError as error:
            self._break_off(error)
            return
        if count == FRAMES_PER_TURN:
            self._pause()
            self.service.loop.asyncio.call_soon(self._take_turn)
            return
        self._events = None
        if not self.full:
            self._read_on()

    def _read_on(self) -> None:
        if self._events is None:
            super()._read_on()

    def _break_off(self, error: Exception) -> None:
        self.service.logger.debug("WebSocket client breaks the protocol: %s", error)
        self._close()

    def _handle(self, event: Any) -> None:
        from wsproto import events

        if isinstance(event, events.Message):
            if self._finishing:
                return
            data = event.data.encode() if isinstance(event.data, str) else bytes(event.data)
            self._message += data
            if len(self._message) > _LONGEST_MESSAGE:
                self._close_frame(1009)
                self._close()
            elif event.message_finished:
                message = bytes(self._message)
                self._message.clear()
                self.arrived(len(message))
                if self.listener is not None:
                    self.listener.received(message)
        elif isinstance(event, events.Ping):
            if self.writable:  # a client that is behind has no use for an answer to each
                self._write(self._frames.send(event.response()))
        elif isinstance(event, events.CloseConnection):
            if not self._closed_by_us:
                self._closed_by_us = True
                self._write(self._frames.send(event.response()))
            self._close()

    def send(self, data: bytes) -> None:
        """Send a binary message."""
        from wsproto.events import BytesMessage

        if not self._closed_by_us:
            self._write(self._frames.send(BytesMessage(data=data)))

    def send_text(self, text: str) -> None:
        """Send a text message."""
        from wsproto.events import TextMessage

        if not self._closed_by_us:
            self._write(self._frames.send(TextMessage(data=text)))

    def drain(self) -> None:
        """Say goodbye (1001: going away) and close."""
        self._close_frame(1001)
        self._close()

    def _farewell(self) -> None:
        self._close_frame(1000)

    def _close_frame(self, code: int) -> None:
        from wsproto.events import CloseConnection

        if not self._closed_by_us:
            self._closed_by_us = True
            self._write(self._frames.send(CloseConnection(code=code)))

    def _write(self, data: bytes) -> None:
        super().send(data)


class WebSocketChannels:
    """`Channels` over WebSocket messages."""

    def __init__(self, socket: WebSocket, protocol: str, first: int) -> None:
        """Begin, on the loop, with an empty message on the channel `first`, as a sign that the client is connected."""
        self.protocol = protocol or "channel.k8s.io"
        self._socket = socket
        self._base64 = "base64" in protocol
        self._inboxes = {number: Inbox(socket.took, newest=number == RESIZE) for number in range(RESIZE + 1)}
        # Such a client reads on one thread while it makes its streams on another, and says on standard error that it
        # knows no stream of that number. It has made all of them when it sends anything.
        self._has_streams = threading.Event()
        self._first = first
        socket.listener = self
        socket.service.loop.asyncio.call_later(STREAMS_SECONDS, self._open)

    def read(self, channel: int) -> bytes:
        """Return the next message of a channel, or nothing when the client closed it."""
        return self._inboxes[channel].read()

    def write(self, channel: int, data: bytes) -> None:
        """Send a message on a channel.

        Raises:
            ConnectionError: the client is gone.
        """
        self._has_streams.wait()
        self._socket.outflow.write(len(data), self._send, channel, data)

    def close(self) -> None:
        """Flush and end the connection."""
        self._socket.service.loop.post(self._socket.finish)

    def _open(self) -> None:
        """Send the first message and let others follow: the client has its streams by now; on the loop."""
        if not self._has_streams.is_set():
            self._send(self._first, b"")
            self._has_streams.set()

    def _send(self, channel: int, data: bytes) -> None:
        if self._base64:
            self._socket.send_text(f"{channel}{base64.b64encode(data).decode()}")
        else:
            self._socket.send(bytes((channel,)) + data)

    def received(self, data: bytes) -> None:
        """Sort a message into its channel."""
        self._open()
        size = len(data)
        if not data:
            return
        channel, payload = data[0], data[1:]
        if self._base64:
            channel -= ord("0")
            try:
                payload = base64.b64decode(payload, validate=True)
            except binascii.Error:
                payload = b""
        inbox = self._inboxes.get(channel)
        if channel == _CLOSE_CHANNEL and self.protocol == CHANNELS[0] and payload:
            closing = self._inboxes.get(payload[0])
            if closing is not None:
                closing.end()
        elif inbox is not None and payload:
            inbox.put(payload)
            size -= len(payload)
        self._socket.took(size)

    def ended(self) -> None:
        """Nothing more comes on any channel."""
        self._has_streams.set()
        for inbox in self._inboxes.values():
            inbox.end()


def as_text(data: bytes) -> str:
    """Return a chunk of a body that is text."""
    return data.decode("utf-8", "replace")


def as_base64(data: bytes) -> str:
    """Return any chunk as text."""
    return base64.b64encode(data).decode()


class WebSocketBody:
    """The sink for a growing body that a client takes as WebSocket messages, one per chunk (watches, logs)."""

    def __init__(self, socket: WebSocket, *, text: Callable[[bytes], str] | None = None) -> None:
        """Send binary messages, or text where `text` makes it of a chunk."""
        self._socket = socket
        self._text = text
        self.writer: Any = None
        socket.listener = self

    @property
    def writable(self) -> bool:
        """Whether the client keeps up."""
        return self._socket.writable

    def send_chunks(self, chunks: Sequence[bytes]) -> None:
        """Send each chunk as a message."""
        for data in chunks:
            if self._text is None:
                self._socket.send(data)
            else:
                self._socket.send_text(self._text(data))

    def end_body(self, *, broken: bool) -> None:
        """Close; a broken body without a closing handshake."""
        if broken:
            self._socket.abort()
        else:
            self._socket.finish()

    def received(self, data: bytes) -> None:
        """What a watcher sends means nothing."""
        self._socket.took(len(data))

    def ended(self) -> None:
        """The client is gone."""
        self.writer.stop()
