"""Put-off calls by the second: one timer of the clock for all that are due in it.

A thousand nodes keep fourteen thousand watches, each of which wants a bookmark a minute. With a timer for each the
clock's thread would wake 240 times a second, and would take the interpreter away from a request each time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial

from hyperkube.machinery.clock import Clock, Timer

PRECISE_SECONDS = 30.0
"""What is due sooner gets a timer of its own."""


class _Entry:
    """A call that is due in a certain second; it is known by its identity."""

    __slots__ = ("_due", "call")

    def __init__(self, call: Callable[[], None], due: dict[_Entry, None]) -> None:
        self.call = call
        self._due = due

    def cancel(self) -> None:
        """Do not call any more."""
        self._due.pop(self, None)


class CoarseTimers:
    """Makes calls up to a second late, on the clock's thread; for any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seconds: dict[int, dict[_Entry, None]] = {}

    def monotonic(self) -> float:
        """Return the clock's seconds."""
        return self._clock.monotonic()

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make `call` after `seconds`; it must be short and must not raise."""
        if seconds < PRECISE_SECONDS:
            return self._clock.call_later(seconds, call)
        return self.call_at(math.ceil(self._clock.monotonic() + seconds), call)

    def next_turn(self, turn: int, every: int) -> int:
        """Return the next whole second of the clock that is `turn` seconds behind a multiple of `every`.

        It is half a second away at least: who asks within a turn gets the next one.
        """
        first = math.floor(self._clock.monotonic() + 0.5) + 1
        return first + (turn - first) % every

    def call_at(self, second: int, call: Callable[[], None]) -> Timer:
        """Make `call` in a whole second of the clock, which is still to come; as above."""
        with self._lock:
            due = self._seconds.get(second)
            is_new = due is None
            if due is None:
                due = self._seconds[second] = {}
            entry = _Entry(call, due)
            due[entry] = None
        if is_new:
            self._clock.call_later(second - self._clock.monotonic(), partial(self._fire, second))
        return entry

    def _fire(self, second: int) -> None:
        with self._lock:  # from here on no entry is added to it
            due = self._seconds.pop(second)
        while due:
            try:
                entry, _ = due.popitem()
            except KeyError:  # the last one was cancelled meanwhile
                return
            entry.call()
