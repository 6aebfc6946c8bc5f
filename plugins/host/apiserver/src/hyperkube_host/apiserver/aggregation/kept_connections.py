"""Connections to other servers that stay open for the next request, as those of Go's clients do.

A server behind an APIService is asked six times a minute; each connection would be a handshake with certificates on
both sides, which costs a hundred times what the request does.
Source: Go ``net/http`` Transport (IdleConnTimeout of ``DefaultTransport``), client-go ``transport/cache.go``.
"""

from __future__ import annotations

import http.client
import select
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hyperkube_lib.serving.exchange import RelayUpgrade

from hyperkube.machinery.clock import Clock

IDLE_SECONDS = 90.0
MOST_KEPT = 16
Place: TypeAlias = tuple[object, ...]
"""All that decides which requests may share a connection."""


class Connected(NamedTuple):
    """A connection, and a second handle of its socket, by which it can be cut while it is read."""

    http: http.client.HTTPConnection
    wire: socket.socket

    def close(self) -> None:
        """Close both."""
        self.wire.close()
        self.http.close()

    def is_silent(self) -> bool:
        """Tell whether the server has neither closed the connection nor said anything unasked."""
        with suppress(OSError, ValueError):
            return not select.select([self.wire], [], [], 0)[0]
        return False


def place_of(relay: RelayUpgrade) -> Place:
    """Return what a connection is for: the server, whom it must prove to be, and as whom we come.

    A certificate or an authority that is replaced makes another place.
    """
    files = tuple((path, _stamp(path)) for path in (relay.ca_file, relay.certificate_file, relay.key_file))
    return relay.host, relay.port, relay.tls, relay.dial, relay.ca_data, relay.server_name, files


def _stamp(path: str) -> tuple[int, int] | None:
    if not path:
        return None
    try:
        status = Path(path).stat()
    except OSError:  # the next connection's error names the file
        return None
    return status.st_mtime_ns, status.st_ino


class KeptConnections:
    """Idle connections by place; each is lent to one request at a time. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[tuple[Place, Connected, float]] = []
        self._closed = False

    def take(self, place: Place) -> Connected | None:
        """Return a connection that was put back for this place, None if none is good any more."""
        with self._lock:
            self._drop_old()
            mine = [row for row in self._idle if row[0] == place]
            for row in mine:
                self._idle.remove(row)
                if row[1].is_silent():
                    return row[1]
                row[1].close()
        return None

    def put(self, place: Place, connected: Connected) -> None:
        """Take a connection whose answer has been read whole."""
        with self._lock:
            if self._closed:
                connected.close()
                return
            self._drop_old()
            self._idle.append((place, connected, self._clock.monotonic()))
            while len(self._idle) > MOST_KEPT:
                self._idle.pop(0)[1].close()

    def close(self) -> None:
        """Close all, and each that is put back from now on; idempotent."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop()[1].close()

    def _drop_old(self) -> None:
        since = self._clock.monotonic() - IDLE_SECONDS
        while self._idle and self._idle[0][2] < since:
            self._idle.pop(0)[1].close()
