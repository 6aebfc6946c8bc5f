"""Carries a growing body from its source to its client, on the loop and without a thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from hyperkube_lib.serving.exchange import AllChunks, ChunkSource
from hyperkube_lib.serving.loop import EdgeLoop


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

    A body that `gives_way` always has more: behind each piece of it the loop looks at its sockets first, as a slice of
    flushes may last twenty times as long as a piece, and an answer to others waits for several of them.
    """

    __slots__ = ("_behind", "_gives_way", "_logger", "_loop", "_rung", "_sink", "_source")

    def __init__(
        self, source: ChunkSource, sink: Sink, *, loop: EdgeLoop, logger: logging.Logger, gives_way: bool = False
    ) -> None:
        self._source: ChunkSource | None = source
        """None when the body has ended: the source rings here, and both would wait for the collector of garbage."""
        self._gives_way = gives_way
        self._sink = sink
        self._loop = loop
        self._logger = logger
        self._rung = False
        self._behind = False

    def start(self) -> None:
        """Subscribe and send what is there already."""
        if self._source is not None:
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
        source = self._source
        if source is None:
            return
        if not self._sink.writable:
            self._behind = True
            return
        try:
            chunks = source.drain()
        except Exception:
            self._logger.exception("a stream's source failed")
            self.stop()
            self._sink.end_body(broken=True)
            return
        if chunks is None:
            self.stop()
            self._sink.end_body(broken=False)
        elif chunks:
            self._sink.send_chunks(chunks)
            if self._gives_way:
                self._loop.asyncio.call_soon(self.notify)
            elif not isinstance(chunks, AllChunks):
                self.notify()

    def resume(self) -> None:
        """The client has caught up."""
        if self._behind:
            self._behind = False
            self.notify()

    def stop(self) -> None:
        """Let go of the source; idempotent."""
        source, self._source = self._source, None
        if source is not None:
            try:
                source.close()
            except Exception:
                self._logger.exception("a stream's source could not be closed")
