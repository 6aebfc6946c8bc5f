"""A container's log as a body that grows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hyperkube.machinery.clock import Clock, Timer

if TYPE_CHECKING:
    from hyperkube_host.kubelet.logs.log_reader import LogReader

LOOK_SECONDS = 0.2
_BLOCKS = 16


class LogSource:
    """Gives out what a `LogReader` reads; while following, looks five times a second for more."""

    def __init__(self, reader: LogReader, clock: Clock, is_running: Callable[[], bool], *, follow: bool) -> None:
        self._reader = reader
        self._clock = clock
        self._is_running = is_running
        self._follow = follow
        self._notify: Callable[[], None] = lambda: None
        self._timer: Timer | None = None
        self._closed = False

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Remember whom to tell, and tell at once: there may be something already."""
        self._notify = notify
        notify()

    def drain(self) -> Sequence[bytes] | None:
        """Return what can be read now; None at the end of the log."""
        if self._closed:
            return None
        ended = not self._follow or not self._is_running()
        chunks = list(itertools.islice(self._reader.read(), _BLOCKS))
        if chunks:
            self._notify()
            return chunks
        if self._follow and self._reader.was_rotated():
            self._reader.reopen()
            self._notify()
            return []
        if ended or self._reader.is_exhausted:
            return None
        self._timer = self._clock.call_later(LOOK_SECONDS, self._notify)
        return []

    def close(self) -> None:
        """Close the file."""
        if not self._closed:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            self._reader.close()
