"""Bodies that end by themselves and are too large to be held as a whole, such as the list of all pods of a cluster.

Their pieces are made as the client takes them, in the slices of the loop's flushes, so that whatever else the loop
serves waits for a piece or a few, not for all. What takes long to make is made by workers, who are a little ahead of
the client, and before each piece give way to the loop.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from hyperkube_lib.serving.exchange import Answer, ChunkSource, Response, StreamResponse
from hyperkube_lib.serving.loop import EdgeLoop
from hyperkube_lib.serving.wire import GZIP_FIELDS, gzip_packer, is_encoded
from hyperkube_lib.serving.workers import WorkerPool

PIECE_BYTES = 128 * 1024
"""Bytes of a piece: so many of objects that are compressed in a cache take half a millisecond."""

AHEAD_BYTES = 4 * PIECE_BYTES
"""Bytes from which workers wait for the client."""


def is_finite(answer: Answer | None) -> TypeGuard[StreamResponse]:
    """Tell whether an answer is such a body."""
    return isinstance(answer, StreamResponse) and answer.finite


class PieceSource:
    """The `ChunkSource` of pieces that are made one after the other; behind an empty one others have a turn, too."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Do nothing: up to the end there is always more, which `drain` is asked for."""

    def drain(self) -> Sequence[bytes] | None:
        """Return the next piece, None at the end."""
        piece = next(self._pieces, None)
        return None if piece is None else (piece,)

    def close(self) -> None:
        """Let go of what pieces would be made of."""
        self._pieces = iter(())


class EndingSource:
    """The `ChunkSource` of another one that tells when it is closed, once."""

    def __init__(self, source: ChunkSource, ended: Callable[[], None]) -> None:
        self._source = source
        self._ended: Callable[[], None] | None = ended

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Pass `notify` on."""
        self._source.subscribe(notify)

    def drain(self) -> Sequence[bytes] | None:
        """Return the other's chunks."""
        return self._source.drain()

    def close(self) -> None:
        """Close the other, and tell."""
        self._source.close()
        ended, self._ended = self._ended, None
        if ended is not None:
            ended()


class GzipSource:
    """The `ChunkSource` of another, finite one, gzipped; for `WorkerSource`: it may return nothing before its end."""

    def __init__(self, source: ChunkSource) -> None:
        self._source = source
        self._packer = gzip_packer()
        self._ended = False

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Pass `notify` on."""
        self._source.subscribe(notify)

    def drain(self) -> Sequence[bytes] | None:
        """Return what the next chunks come to, which may be kept back for those after them; None at the end."""
        if self._ended:
            return None
        chunks = self._source.drain()
        self._ended = chunks is None
        data = self._packer.flush() if chunks is None else b"".join(map(self._packer.compress, chunks))
        return (data,) if data else ()

    def close(self) -> None:
        """Close the other."""
        self._source.close()


class WorkerSource:
    """The `ChunkSource` of another, finite one whose chunks workers make, `AHEAD_BYTES` ahead of the client at most.

    Args:
        source: makes the chunks; from its first one to its end it is used by one worker at a time.
        workers: the pool; all but the making of chunks is done on the loop.
        loop: has the interpreter first.
    """

    def __init__(self, source: ChunkSource, workers: WorkerPool, loop: EdgeLoop) -> None:
        self._source = source
        self._workers = workers
        self._loop = loop
        self._notify: Callable[[], None] | None = None
        self._lock = threading.Lock()
        # Under the lock:
        self._ready: deque[bytes] = deque()
        self._bytes = 0
        self._working = self._ended = self._closed = False
        self._failure: Exception | None = None

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever chunks are ready, or the end has come; begin with them."""
        self._notify = notify
        self._work_on()

    def drain(self) -> Sequence[bytes] | None:
        """Return the chunks that are ready, None at the end.

        Raises:
            Exception: what the source has raised, behind the chunks before it.
        """
        with self._lock:
            ready, self._bytes = list(self._ready), 0
            self._ready.clear()
            if not ready and self._ended:
                if self._failure is not None:
                    raise self._failure
                return None
        self._work_on()
        return ready

    def close(self) -> None:
        """Let go of the source; a worker that is about it does so when it has made its chunk."""
        with self._lock:
            was_closed, self._closed = self._closed, True
            self._ready.clear()
            if was_closed or self._working:
                return
        self._source.close()

    def _work_on(self) -> None:
        """Have a worker make more, unless one is about it."""
        with self._lock:
            if self._working or self._ended or self._closed:
                return
            self._working = True
        if not self._workers.submit(self._work, begun=True):
            raise ConnectionError("the server is closed")

    def _work(self) -> None:
        notify = self._notify
        while self._goes_on():
            self._loop.give_way()
            failure: Exception | None = None
            chunks: Sequence[bytes] | None = None
            try:
                chunks = self._source.drain()
            except Exception as error:  # noqa: BLE001 -- raised to the loop, which breaks the body off and logs it
                failure = error
            with self._lock:
                if chunks is None:
                    self._ended, self._failure = True, failure
                else:
                    self._ready.extend(chunks)
                    self._bytes += sum(map(len, chunks))
            if notify is not None and (chunks is None or any(chunks)):
                notify()

    def _goes_on(self) -> bool:
        """Tell whether more is to be made; if not, the next to want more calls another worker."""
        with self._lock:
            if not (self._ended or self._closed or self._bytes >= AHEAD_BYTES):
                return True
            # `drain` and `close` look at this under the lock, too: either they find it cleared, or this has seen
            # what they did.
            self._working = False
            if not self._closed:
                return False
        self._source.close()
        return False


def made_by_workers(answer: StreamResponse, workers: WorkerPool, loop: EdgeLoop, *, gzip: bool) -> None:
    """Have workers make the body of a finite answer where that takes long; it does with `gzip`, as the client may."""
    gzips = gzip and not is_encoded(answer.headers)
    if gzips:
        answer.headers += GZIP_FIELDS
        answer.source = GzipSource(answer.source)
    if gzips or answer.slow:
        answer.source = WorkerSource(answer.source, workers, loop)


def gathered(answer: StreamResponse) -> Response:
    """Return a finite answer as a whole, for those who need it so."""
    source, parts = answer.source, list[bytes]()
    try:
        while (chunks := source.drain()) is not None:
            parts += chunks
    finally:
        source.close()
    return Response(status=answer.status, headers=answer.headers, body=b"".join(parts))
