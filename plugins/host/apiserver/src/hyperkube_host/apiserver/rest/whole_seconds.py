"""The time as objects have it: in whole seconds, so that it is asked for, and written, once in a second.

To ask the machine for its time and to write it costs a write two microseconds each, and a new object has it twice.
"""

from __future__ import annotations

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.times import format_time


class WholeSeconds:
    """Tells the time as a ``metav1.Time``; from any thread.

    A clock that is set anew is followed with the next second.
    """

    __slots__ = ("_clock", "_last", "_monotonic")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._monotonic = clock.monotonic
        self._last = (-1.0, "")
        """Until when, in monotonic seconds, and what is told; one object, as threads replace it without a lock."""

    def text(self) -> str:
        """Return the second that it is."""
        until, text = self._last
        if self._monotonic() < until:
            return text
        # Taken before the time of day: what is told ends at most as much too early as lies between the two.
        monotonic = self._monotonic()
        now = self._clock.now()
        text = format_time(now)
        self._last = (monotonic + 1 - now.microsecond / 1e6, text)
        return text
