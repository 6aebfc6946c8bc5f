"""The pipe between the plugin and a process of policies: JSON messages, each after its length in four bytes."""

from __future__ import annotations

import socket
import struct
from typing import Any

import orjson

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

_LENGTH = struct.Struct("!I")
_MOST = 64 * 1024 * 1024
_CHUNK = 256 * 1024


class Closed(Exception):
    """The other side is gone."""


class Channel:
    """One end of the pipe; used by one thread at a time."""

    def __init__(self, end: socket.socket, clock: Clock | None = None) -> None:
        """Talk through `end`; `clock` is needed to `wait_at_most`."""
        self._socket = end
        self._clock = clock
        self._deadline: float | None = None
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
        """Limit how long the next `send` and `receive` may take, however bytes come; None for ever."""
        self._deadline = None if seconds is None or self._clock is None else self._clock.monotonic() + seconds
        self._socket.settimeout(None if seconds is None else max(seconds, 0.0001))

    def table(self) -> Object:
        """Return the next message.

        Raises:
            Closed: the other side is gone, or sends what is no message.
            TimeoutError: none came in time.
        """
        try:
            told = orjson.loads(self.receive())
        except orjson.JSONDecodeError as error:
            raise Closed("no message") from error
        if not isinstance(told, dict):
            raise Closed("no message")
        return told

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            if self._deadline is not None and self._clock is not None:
                left = self._deadline - self._clock.monotonic()
                if left <= 0:
                    raise TimeoutError
                self._socket.settimeout(left)
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
