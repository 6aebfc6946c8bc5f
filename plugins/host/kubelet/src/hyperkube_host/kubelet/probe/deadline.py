"""A connection whose answer comes within a time: a socket's own time-out counts anew with every byte.

A pod that sends one byte a second would keep the thread that probes it for hours, and with ten such pods no other pod
of the node was probed any more.
"""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any, cast

from hyperkube.machinery.clock import SystemClock

_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time


def within(connection: http.client.HTTPConnection, seconds: float) -> None:
    """Connect, and let what is sent and answered from then on take what is left of so many seconds.

    Raises:
        TimeoutError: that took too long already; so will each later read.
        OSError: it cannot connect.
    """
    until = _monotonic() + seconds
    connection.connect()
    connection.sock = cast("Any", _DeadlineSocket(connection.sock, until))


class _DeadlineSocket:
    """As much of a socket as the standard library's HTTP client uses."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock, self._until = sock, until

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self._until))
        self._sock.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self._sock, self._until))

    def close(self) -> None:
        self._sock.close()


class _DeadlineReader(io.RawIOBase):
    """What a socket receives until a time."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        super().__init__()
        self._sock, self._until = sock, until
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open when the connection has closed it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._until))
        return self._file.readinto(buffer) or 0

    def close(self) -> None:
        self._file.close()
        super().close()


def _left(until: float) -> float:
    left = until - _monotonic()
    if left <= 0:
        raise TimeoutError("context deadline exceeded")
    return left
