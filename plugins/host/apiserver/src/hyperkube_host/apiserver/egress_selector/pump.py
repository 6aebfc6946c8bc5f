"""Moves bytes between a TLS connection and a plain one.

One thread does both ways: a TLS connection must not be read and written by two at once.
"""

from __future__ import annotations

import select
import socket
import ssl
from contextlib import suppress

_CHUNK = 65_536


class _Way:
    """One direction; holds a chunk at most."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self._source = source
        self._sink = sink
        self._held = b""
        self.ended = False
        """Whether the source has closed; all that it sent is then with the sink."""

    def step(self) -> tuple[socket.socket, int] | None:
        """Move what can be moved; return what to wait for, if nothing could.

        Raises:
            OSError: a side is broken.
        """
        side, wanted = (self._sink, select.POLLOUT) if self._held else (self._source, select.POLLIN)
        try:
            if self._held:
                self._held = self._held[self._sink.send(self._held) :]
            else:
                self._held = self._source.recv(_CHUNK)
                self.ended = not self._held
        except ssl.SSLWantReadError:
            return side, select.POLLIN
        except ssl.SSLWantWriteError:
            return side, select.POLLOUT
        except BlockingIOError:
            return side, wanted
        return None


def pump(tls: ssl.SSLSocket, plain: socket.socket) -> None:
    """Move bytes both ways until either side closes.

    Raises:
        OSError: a side is broken.
    """
    tls.setblocking(False)
    plain.setblocking(False)
    ways = (_Way(tls, plain), _Way(plain, tls))
    while not any(way.ended for way in ways):
        waits = [way.step() for way in ways]
        if None not in waits:
            _wait([each for each in waits if each is not None])
    with suppress(OSError):
        tls.unwrap()


def _wait(waits: list[tuple[socket.socket, int]]) -> None:
    masks: dict[int, int] = {}
    for side, mask in waits:
        masks[side.fileno()] = masks.get(side.fileno(), 0) | mask
    poll = select.poll()
    for number, mask in masks.items():
        poll.register(number, mask)
    poll.poll()
