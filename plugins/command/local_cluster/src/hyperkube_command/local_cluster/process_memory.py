"""What a server's process does to keep little memory: few arenas, and free memory goes back to the system.

glibc gives each thread an arena of its own, and keeps what is freed in the midst of one. Threads here allocate little
and live long, and what a start leaves free is a fortieth of a small server. Other C libraries are left alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from hyperkube.machinery.clock import Clock

_M_ARENA_MAX = -8
_ARENAS = 2
FIRST_SECONDS = 10.0
PERIOD_SECONDS = 60.0


def spare_arenas() -> None:
    """Keep glibc from giving each thread an arena of its own; before there are many threads."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


def give_back() -> None:
    """Give what glibc holds free back to the system: a third of a millisecond where there is little."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def give_back_regularly(clock: Clock, give: Callable[[], None] = give_back) -> None:
    """Give memory back when the start is over, and then once a minute: after a burst it would stay for good."""

    def again() -> None:
        give()
        clock.call_later(PERIOD_SECONDS, again)

    clock.call_later(FIRST_SECONDS, again)
