"""What is written over TLS goes out in pieces: a connection keeps a buffer as large as its largest write, to its end.

OpenSSL writes into memory that grows and never shrinks. A list of 20 MB written at once would cost 20 MB until its
client, which keeps the connection for the next request, goes away; and a watch, of which a node has a dozen, would be
as dear for hours as the burst that it began with. Large pieces of answers cost little more processor time than all at
once (pieces of one TLS record a quarter more for a list of 1,000 pods); the small ones of a watch twice as much, for a
quarter of the memory.
"""

from __future__ import annotations

from collections import deque

PIECE = 256 * 1024
"""Bytes of an answer: sixteen TLS records."""

STREAM_PIECE = 4 * 1024
"""Bytes of a body that grows: the connections of watches are many, live long, and seldom have more to say."""

BUSY_PIECE, BUSY_FROM = 16 * 1024, 4 << 20
"""Bytes of one that has grown by so many: the few watches of all pods have more to say, and every piece is a record and
a call of the system."""

WAITING = 4 * PIECE
"""Encrypted bytes from which a client counts as behind; what is not encrypted yet waits in pieces."""


class Pieces:
    """Bytes that wait to be written, in order; they are cut, not copied.

    Attributes:
        last: whether the connection is to be closed behind them.
    """

    __slots__ = ("_waiting", "last")

    def __init__(self) -> None:
        self._waiting: deque[tuple[memoryview, int]] = deque()
        self.last = False

    def __len__(self) -> int:
        """Return the bytes that wait."""
        return sum(len(rest) for rest, _ in self._waiting)

    def put(self, data: bytes, size: int) -> None:
        """Add bytes that are to go out in pieces of a size."""
        self._waiting.append((memoryview(data), size))

    def take(self) -> memoryview | None:
        """Return the next piece, None when nothing waits."""
        if not self._waiting:
            return None
        data, size = self._waiting.popleft()
        if len(data) > size:
            self._waiting.appendleft((data[size:], size))
        return data[:size]
