"""A TCP connection that carries messages with their length in front (RFC 7766), without ever waiting."""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Callable

LARGEST = 65535
MOST_WAITING = 4 * LARGEST
"""Bytes of answers that may wait for a peer that does not read; then no more of its questions are read."""
_CHUNK = 65536
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Stream:
    """One connection, of either side.

    Args:
        connection: connected, or about to be.
        selector: which tells when it can be read or written.
        received: called with each message.
        ended: called once when the connection is over; not after `close`.
        outgoing: what is to be sent first.
    """

    def __init__(
        self,
        connection: socket.socket,
        selector: selectors.BaseSelector,
        received: Callable[[bytes], None],
        ended: Callable[[], None],
        outgoing: bytes = b"",
    ) -> None:
        self._connection = connection
        self._selector = selector
        self._received = received
        self._ended = ended
        self._inbox = bytearray()
        self._outbox = bytearray(outgoing)
        self._is_open = True
        connection.setblocking(False)
        selector.register(connection, READ | (WRITE if outgoing else 0), self._on_event)

    def send(self, message: bytes) -> None:
        """Send a message as soon as the peer takes it; nothing after the end."""
        if not self._is_open:
            return
        self._outbox += framed(message)
        self._flush()

    def close(self) -> None:
        """End the connection; idempotent."""
        if self._is_open:
            self._is_open = False
            self._selector.unregister(self._connection)
            self._connection.close()

    def _on_event(self, mask: int) -> None:
        if mask & WRITE:
            self._flush()
            self._deliver()
        if self._is_open and mask & READ:
            self._read()

    def _flush(self) -> None:
        try:
            with contextlib.suppress(BlockingIOError):
                while self._outbox:
                    del self._outbox[: self._connection.send(self._outbox)]
        except OSError:
            self._end()
            return
        wanted = (READ if len(self._outbox) <= MOST_WAITING else 0) | (WRITE if self._outbox else 0)
        self._selector.modify(self._connection, wanted, self._on_event)

    def _read(self) -> None:
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        self._inbox += data
        self._deliver()

    def _deliver(self) -> None:
        """Hand on the messages that are there, while the peer takes what they are answered with."""
        while self._is_open and len(self._inbox) >= 2 and len(self._outbox) <= MOST_WAITING:
            length = int.from_bytes(self._inbox[:2], "big")
            if len(self._inbox) < 2 + length:
                break
            message = bytes(self._inbox[2 : 2 + length])
            del self._inbox[: 2 + length]
            self._received(message)

    def _end(self) -> None:
        if self._is_open:
            self.close()
            self._ended()


def framed(message: bytes) -> bytes:
    """Return a message with its length in front."""
    return len(message).to_bytes(2, "big") + message
