"""A stream whose frames have to be waited for: a thread makes them while there are any, never the loop.

A watch of objects that a webhook converts is one: the webhook may be slow, and may itself be a client of this server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from hyperkube_lib.serving.exchange import ChunkSource


class WaitingStream:
    """The `ChunkSource` of another source that must not be drained on the loop."""

    def __init__(self, source: ChunkSource) -> None:
        self._source = source
        self._notify: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self._ready: list[bytes] = []
        self._wanted = False
        self._working = False
        self._ended = False
        self._closed = False
        self._failure: Exception | None = None

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever there may be something to drain."""
        self._notify = notify
        self._source.subscribe(self._ring)
        self._ring()

    def drain(self) -> Sequence[bytes] | None:
        """Return the frames that are ready, or None at the end; what comes next is begun with."""
        with self._lock:
            ready, self._ready = self._ready, []
            if not ready and self._failure is not None:
                raise self._failure
            if not ready and self._ended:
                return None
        self._work_if_wanted()
        return ready

    def close(self) -> None:
        """Let go of the source; idempotent."""
        with self._lock:
            self._closed = True
        self._source.close()

    def _ring(self) -> None:
        with self._lock:
            self._wanted = True
        self._work_if_wanted()

    def _work_if_wanted(self) -> None:
        with self._lock:
            if self._working or not self._is_due():
                return
            self._working = True
        threading.Thread(target=self._work, name="waiting-stream", daemon=True).start()

    def _is_due(self) -> bool:
        """Tell whether more frames shall be made: not before the last ones were taken."""
        return self._wanted and not (self._ready or self._ended or self._closed)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._is_due():
                    self._working = False
                    return
                self._wanted = False
            self._take()
            if self._notify is not None:
                self._notify()

    def _take(self) -> None:
        failure: Exception | None = None
        chunks: Sequence[bytes] | None = None
        try:
            chunks = self._source.drain()
        except Exception as error:  # noqa: BLE001 -- the loop is told, which ends the stream and logs it
            failure = error
        with self._lock:
            if chunks is None:
                self._ended, self._failure = True, failure
            elif chunks:
                self._ready.extend(chunks)
                self._wanted = True
