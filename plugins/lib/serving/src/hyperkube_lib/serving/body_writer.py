"""Carries a growing body from its source to its client, on the loop and without a thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from hyperkube_lib.serving.exchange import AllChunks, ChunkSource
from hyperkube_lib.serving.loop import EdgeLoop

from hyperkube.machinery.clock import SystemClock

LONGEST_SHARE = 0.005
"""Seconds of pieces between two looks at the sockets at most."""

_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time


class Sink(Protocol):
    """Where a body goes; all on the loop."""

    @property
    def writable(self) -> bool:
        """False while the client is behind: what has been sent so far still waits."""

    def send_chunks(self, chunks: Sequence[bytes]) -> None:
        """Send what came in one drain."""

    def end_body(self, *, broken: bool) -> None:
        """The body is complete, or (broken) will never be; the client must be able to tell which."""


class Body(Protocol):
    """What fills a sink, told about the client; on the loop."""

    def resume(self) -> None:
        """The client has caught up."""

    def stop(self) -> None:
        """The client is gone or the server closes: let go; idempotent."""


class BodyWriter:
    """Drains a source whenever it rings and the client keeps up.

    A client that does not keep up is left alone: the source holds what it has, in its own bounds, and the connection's
    stall timeout ends both.

    A body that `gives_way` always has more. So between two looks at the sockets it has as much of the loop's time as
    all else has had since the last, a piece at least and `LONGEST_SHARE` at most: an idle loop looks at them behind
    each piece, and a busy one, whose rounds are longer than a piece, does not make the body wait a round for each.
    """

    __slots__ = ("_behind", "_ended", "_flushed", "_gives_way", "_logger", "_loop", "_rung", "_sink", "_source")

    def __init__(
        self, source: ChunkSource, sink: Sink, *, loop: EdgeLoop, logger: logging.Logger, gives_way: bool = False
    ) -> None:
        self._source = source
        self._gives_way = gives_way
        self._sink = sink
        self._loop = loop
        self._logger = logger
        self._rung = False
        self._behind = False
        self._ended = False
        self._flushed = _monotonic()

    def start(self) -> None:
        """Subscribe and send what is there already."""
        self._source.subscribe(self.notify)
        self.notify()

    def notify(self) -> None:
        """Ask for a flush in the loop's next round; from any thread, cheap when one is due already."""
        if not self._rung:
            self._rung = True
            self._loop.ring(self)

    def flush(self) -> None:
        """Send what the source has now, and come back for more unless that was all."""
        self._rung = False
        if not self._gives_way:
            if self._send():
                self.notify()
            return
        begun = _monotonic()
        until = begun + min(begun - self._flushed, LONGEST_SHARE)
        while self._send():
            if _monotonic() >= until:
                self._loop.asyncio.call_soon(self.notify)
                break
        self._flushed = _monotonic()

    def _send(self) -> bool:
        """Send what the source has now; tell whether it may have more."""
        if self._ended:
            return False
        if not self._sink.writable:
            self._behind = True
            return False
        try:
            chunks = self._source.drain()
        except Exception:
            self._logger.exception("a stream's source failed")
            self.stop()
            self._sink.end_body(broken=True)
            return False
        if chunks is None:
            self.stop()
            self._sink.end_body(broken=False)
            return False
        if chunks:
            self._sink.send_chunks(chunks)
        return bool(chunks) and not isinstance(chunks, AllChunks)

    def resume(self) -> None:
        """The client has caught up."""
        if self._behind:
            self._behind = False
            self.notify()

    def stop(self) -> None:
        """Let go of the source; idempotent."""
        if not self._ended:
            self._ended = True
            try:
                self._source.close()
            except Exception:
                self._logger.exception("a stream's source could not be closed")
