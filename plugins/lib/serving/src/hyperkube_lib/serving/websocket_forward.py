"""Port-forward over plain WebSocket channels: two per port, data (even) and error (odd), as the Python client does it.

Each channel begins with the port's number, two bytes, little end first. The ports are fixed by the request's query, and
each carries one connection. Source: kubernetes ``pkg/kubelet/cri/streaming/portforward/websocket.go``.
"""

from __future__ import annotations

import base64
import binascii
import queue

from hyperkube_lib.serving.exchange import ForwardedConnection, HttpRequest
from hyperkube_lib.serving.flow import Inbox
from hyperkube_lib.serving.websocket import WebSocket

MOST_PORTS = 128
"""Of one connection: the number of a channel is one byte, and each port has two."""
FORWARD_PROTOCOLS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io")


def requested_ports(request: HttpRequest) -> list[int]:
    """Return the ports in the query (``port`` or ``ports``, repeated or joined by commas).

    Raises:
        ValueError: one is no port number, or there is none, or more than have channels.
    """
    query = request.query()
    texts = [text for name in ("port", "ports") for value in query.get(name, []) for text in value.split(",")]
    if len(texts) > MOST_PORTS:
        raise ValueError(f"{len(texts)} ports are more than {MOST_PORTS}, for which there are channels")
    ports = [int(text) for text in texts]
    if not ports:
        raise ValueError("query parameter 'port' is required")
    for port in ports:
        if not 0 < port < 65536:
            raise ValueError(f"port {port} must be > 0 and < 65536")
    return ports


class WebSocketForward:
    """The one connection to one port."""

    def __init__(self, streams: WebSocketPortStreams, index: int, port: int, inbox: Inbox) -> None:
        self.port = port
        self._streams = streams
        self._index = index
        self._inbox = inbox

    def read(self) -> bytes:
        """Return the client's next bytes, or nothing when it is gone."""
        return self._inbox.read()

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._streams.write(2 * self._index, data)

    def fail(self, message: str) -> None:
        """Report an error on the port's error channel."""
        self._streams.write(2 * self._index + 1, message.encode())

    def close(self) -> None:
        """This port is done; the connection ends with the last one."""
        self._streams.done(self._index)


class WebSocketPortStreams:
    """`PortStreams` over WebSocket channels."""

    def __init__(self, socket: WebSocket, ports: list[int], *, text: bool) -> None:
        self._socket = socket
        self._text = text
        self._inboxes = [Inbox(socket.took) for _ in ports]
        self._open = set(range(len(ports)))
        self._arrived: queue.SimpleQueue[ForwardedConnection | None] = queue.SimpleQueue()
        socket.listener = self
        for index, port in enumerate(ports):
            self._arrived.put(WebSocketForward(self, index, port, self._inboxes[index]))
        self._ports = ports

    def greet(self) -> None:
        """Send each channel its port's number; on the loop."""
        for index, port in enumerate(self._ports):
            for channel in (2 * index, 2 * index + 1):
                self._send(channel, port.to_bytes(2, "little"))

    def accept(self) -> ForwardedConnection | None:
        """Return the next port's connection, or None at the end."""
        return self._arrived.get()

    def write(self, channel: int, data: bytes) -> None:
        """Send bytes on a channel; from any thread.

        Raises:
            ConnectionError: the client is gone.
        """
        self._socket.outflow.write(len(data), self._send, channel, data)

    def done(self, index: int) -> None:
        """A port's connection is over; from any thread."""
        self._socket.service.loop.post(self._done, index)

    def close(self) -> None:
        """End the connection."""
        self._socket.service.loop.post(self._socket.finish)

    def received(self, data: bytes) -> None:
        """Sort a message into its port."""
        size = len(data)
        channel, payload = (data[0], data[1:]) if data else (1, b"")
        if self._text:
            channel -= ord("0")
            try:
                payload = base64.b64decode(payload, validate=True)
            except binascii.Error:
                payload = b""
        if channel % 2 == 0 and 0 <= channel // 2 < len(self._inboxes) and payload:
            self._inboxes[channel // 2].put(payload)
            size -= len(payload)
        self._socket.took(size)

    def ended(self) -> None:
        """The client is gone."""
        for inbox in self._inboxes:
            inbox.end()
        self._arrived.put(None)

    def _send(self, channel: int, data: bytes) -> None:
        if self._text:
            self._socket.send_text(f"{chr(ord('0') + channel)}{base64.b64encode(data).decode()}")
        else:
            self._socket.send(bytes((channel,)) + data)

    def _done(self, index: int) -> None:
        self._open.discard(index)
        self._inboxes[index].end()
        if not self._open:
            self._socket.finish()
