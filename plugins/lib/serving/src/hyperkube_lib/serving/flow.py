"""The two gates between a handler's threads and a connection on the loop: bytes in, bytes out, both bounded."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from hyperkube_lib.serving.loop import EdgeLoop

IN_BOUND = 1 << 20
"""Bytes that may wait to be read before the client is asked to pause."""

_MOST_CHUNKS = 1024
"""Pieces that wait one by one; those that come then are put together."""

OUT_BOUND = 256 * 1024
"""Bytes that may wait to be sent before a writer is made to wait."""


class Inbox:
    """What a client sent and was not read yet; `put` and `end` on the loop, `read` on any thread."""

    def __init__(self, taken: Callable[[int], None] | None = None, *, newest: bool = False) -> None:
        """Make an empty inbox.

        Args:
            taken: told, on the reader's thread, how many bytes each read removed.
            newest: whether what was not read yet means nothing any more once more has come.
        """
        self._chunks: deque[bytes | bytearray] = deque()
        self._newest = newest
        self._condition = threading.Condition()
        self._ended = False
        self._taken = taken

    def put(self, data: bytes) -> None:
        """Add bytes; ignored after the end."""
        passed_over = 0
        with self._condition:
            if self._ended:
                return
            chunks = self._chunks
            if self._newest and chunks:
                passed_over = len(chunks.popleft())
            if len(chunks) < _MOST_CHUNKS:
                chunks.append(data)
            else:  # single bytes would take many times their number in memory
                if not isinstance(chunks[-1], bytearray):
                    chunks[-1] = bytearray(chunks[-1])
                chunks[-1] += data
            self._condition.notify()
        if passed_over and self._taken is not None:
            self._taken(passed_over)

    def end(self) -> None:
        """The client sends no more; what waits can still be read."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def read(self) -> bytes:
        """Return the next bytes, in the pieces they came in unless very many wait; blocks; nothing at the end."""
        with self._condition:
            while not self._chunks:
                if self._ended:
                    return b""
                self._condition.wait()
            data = bytes(self._chunks.popleft())
        if self._taken is not None:
            self._taken(len(data))
        return data


class Outflow:
    """Makes threads write no faster than the client reads."""

    def __init__(self, loop: EdgeLoop, bound: int = OUT_BOUND) -> None:
        self._loop = loop
        self._bound = bound
        self._condition = threading.Condition()
        self._waiting = 0
        self._paused = False
        self._closed = False

    def write(self, size: int, send: Callable[..., object], *args: Any) -> None:
        """Have `send` called on the loop, once less than the bound waits.

        Raises:
            ConnectionError: the client is gone.
        """
        with self._condition:
            while not self._closed and (self._paused or self._waiting > self._bound):
                self._condition.wait()
            if self._closed:
                raise ConnectionError("the client has gone away")
            self._waiting += size
        self._loop.post(self._send, size, send, args)

    def pause(self) -> None:
        """The transport's buffer is full."""
        with self._condition:
            self._paused = True

    def resume(self) -> None:
        """It has room again."""
        with self._condition:
            self._paused = False
            self._condition.notify_all()

    def close(self) -> None:
        """Nothing can be sent any more; waiting threads get the error."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def _send(self, size: int, send: Callable[..., object], args: tuple[Any, ...]) -> None:
        try:
            send(*args)
        finally:
            with self._condition:
                was_full = self._waiting > self._bound
                self._waiting -= size
                if was_full:
                    self._condition.notify_all()
