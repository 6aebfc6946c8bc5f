"""What is due when, for a loop that sleeps until then."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

from hyperkube.machinery.clock import Clock


class Timers:
    """Calls of the future, of one thread; what was called for and became needless looks so when it is called."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def now(self) -> float:
        """Return the time, in seconds from no particular moment."""
        return self._clock.monotonic()

    def after(self, seconds: float, call: Callable[[], None]) -> None:
        """Call after so many seconds."""
        heapq.heappush(self._due, (self.now() + seconds, next(self._numbers), call))

    def wait(self) -> float | None:
        """Return how long until the next call is due; None if none is."""
        return max(0.0, self._due[0][0] - self.now()) if self._due else None

    def run(self) -> None:
        """Make the calls that are due."""
        while self._due and self._due[0][0] <= self.now():
            heapq.heappop(self._due)[2]()
