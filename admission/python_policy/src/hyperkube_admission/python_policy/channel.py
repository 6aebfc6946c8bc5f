"""The pipe between the plugin and a process of policies: JSON messages, each after its length in four bytes."""

from __future__ import annotations

import socket
import struct
from typing import Any

import orjson

_LENGTH = struct.Struct("!I")
_MOST = 64 * 1024 * 1024
_CHUNK = 256 * 1024


class Closed(Exception):
    """The other side is gone."""


class Channel:
    """One end of the pipe; used by one thread at a time."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._buffer = bytearray()

    def send(self, message: Any) -> None:
        """Send a message.

        Raises:
            Closed: the other side is gone.
            TimeoutError: it does not take the message in time.
        """
        body = message if isinstance(message, bytes) else orjson.dumps(message)
        try:
            self._socket.sendall(_LENGTH.pack(len(body)) + body)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from error

    def receive(self) -> bytes:
        """Return the next message, not parsed.

        Raises:
            Closed: the other side is gone, or sends what is no message.
            TimeoutError: none came in time.
        """
        (size,) = _LENGTH.unpack(self._take(_LENGTH.size))
        if size > _MOST:
            raise Closed(f"a message of {size} bytes")
        return self._take(size)

    def wait_at_most(self, seconds: float | None) -> None:
        """Limit how long the next `send` or `receive` may block; None for ever."""
        self._socket.settimeout(None if seconds is None else max(seconds, 0.0001))

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            try:
                part = self._socket.recv(_CHUNK)
            except TimeoutError:
                raise
            except OSError as error:
                raise Closed(str(error)) from error
            if not part:
                raise Closed("end of the pipe")
            self._buffer += part
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken
