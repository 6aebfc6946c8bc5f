"""A request body that is passed on while it arrives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

ENOUGH = 256 * 1024
"""Bytes waiting from which the client is asked to pause."""


class RequestBody:
    """Holds what came until it is taken; on the loop only."""

    __slots__ = ("_chunks", "_pause", "_resume", "_size", "_taker", "broken", "finished")

    def __init__(self, *, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._pause = pause
        self._resume = resume
        self._taker: Callable[[], None] | None = None
        self.finished = False
        self.broken = False

    def put(self, data: bytes) -> None:
        """Add what came."""
        self._chunks.append(data)
        self._size += len(data)
        if self._size > ENOUGH:
            self._pause()
        if self._taker is not None:
            self._taker()

    def finish(self) -> None:
        """There is no more."""
        self.finished = True
        if self._taker is not None:
            self._taker()

    def lost(self) -> None:
        """The client went away; what is missing will never come."""
        self.broken = not self.finished
        if self._taker is not None:
            self._taker()

    def attach(self, taker: Callable[[], None]) -> None:
        """Call `taker` now and whenever there is more, or the end."""
        self._taker = taker
        taker()

    def take(self) -> bytes:
        """Return and forget all that waits."""
        data = b"".join(self._chunks)
        self._chunks.clear()
        self._size = 0
        self._resume()
        return data
