"""What a server's process does to keep little memory: few arenas, and free memory goes back to the system.

glibc gives each thread an arena of its own, and keeps what is freed in the midst of one. Threads here allocate little
and live long, and what a start leaves free is a fortieth of a small server. What a burst leaves free would stay: worse,
each new connection with TLS takes a buffer of 256 KiB of which it touches a page, unless others have touched it before.
Other C libraries are left alone.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Protocol

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE = 1 << 17
_ARENAS = 2
FIRST_SECONDS = 10.0
PERIOD_SECONDS = 30.0


class Stop(Protocol):
    """What tells a server to end."""

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, at most so many seconds; tell whether the server is to end."""


def spare_arenas() -> None:
    """Keep glibc from giving each thread an arena of its own; before there are many threads."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, _ARENAS)


def map_large_blocks() -> None:
    """Have glibc map each block of 128 KiB or more by itself, so that pages of lists leave no holes in the heap.

    Its own threshold starts there, and grows with the first large block that is freed. For who reads large bodies
    seldom: each of them is pages from the system, and back.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Give what glibc holds free back to the system: a third of a millisecond where there is little."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def forget_folders() -> None:
    """Drop the names of all files in the folders of packages, half a megabyte: the next import lists those it needs."""
    sys.path_importer_cache.clear()


def wait_until_stopped(stopped: Stop, give: Callable[[], None] = give_back) -> None:
    """Wait until the server is to end; meanwhile give memory back when the start is over, and regularly from then on.

    The main thread has nothing else to do, so that this takes no thread.
    """
    pause = FIRST_SECONDS
    while not stopped.wait(pause):
        if pause == FIRST_SECONDS:
            forget_folders()
        give()
        pause = PERIOD_SECONDS
