"""What a server's process does to keep little memory: few arenas, and free memory goes back to the system.

glibc gives each thread an arena of its own, and keeps what is freed in the midst of one. Threads here allocate little
and live long, and what a start leaves free is a fortieth of a small server. What a burst leaves free would stay: worse,
each new connection with TLS takes a buffer of 256 KiB of which it touches a page, unless others have touched it before.
Other C libraries are left alone.

When the load has gone, a server forgets what it has learnt under it: answers, templates, the events that it has told.
That lies between what stays, so that few arenas of Python go back as a whole, but empty pools in them do
(`empty_pools`), until the next load finds room in them.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from hyperkube_lib.component_base.empty_pools import EmptyPools
from hyperkube_lib.component_base.library_pages import LibraryPages

from hyperkube.machinery.recent import forget_all

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_LARGE = 1 << 17
_ARENAS = 2
FIRST_SECONDS = 10.0
PERIOD_SECONDS = 30.0
BUSY, QUIETER = 0.05, 4
"""A process has work that takes a twentieth of a core, and rests when it takes a quarter of the most that it took."""
FIRST_QUIET, LAST_QUIET = 2, 11
"""Periods in a row, at rest, after which to forget: at once, and when what is known for five minutes is too old."""
_FEW = 16
"""Results that a function may remember at rest."""
_REMEMBERING = type(lru_cache(int))
LIBRARY_PERIODS = 20
"""After so many of them pages of libraries are let go, but for those of the start: after the first."""


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


def processor_seconds() -> float:
    """Return the processor time that this process has taken."""
    spent = os.times()
    return spent.user + spent.system


class Rest:
    """Tells when a process has come to rest after work.

    Attributes:
        is_fresh: whether all was to be forgotten in the last period or in the one before: much is made anew, elsewhere.
        is_settling: the same, and for the minutes from the first time of a rest to the second.
    """

    def __init__(self, spent: Callable[[], float] = processor_seconds) -> None:
        """Begin to count.

        Args:
            spent: returns the processor time taken, in seconds.
        """
        self._spent = spent
        self._last = spent()
        self._share = self._most = 0.0
        self._quiet = 0
        self._is_new = self.is_fresh = self.is_settling = False

    def is_new(self, seconds: float) -> bool:
        """Tell whether to forget now; called at the end of each period, with its length."""
        quiet = self._quiet_periods(seconds)
        was_new, self._is_new = self._is_new, quiet in {FIRST_QUIET, LAST_QUIET}
        self.is_fresh = self._is_new or was_new
        self.is_settling = self.is_fresh or quiet > FIRST_QUIET
        if quiet == LAST_QUIET:
            self._most, self._quiet = 0.0, 0
        return self._is_new

    def _quiet_periods(self, seconds: float) -> int:
        """Return how many periods in a row, with the one that has ended, were at rest after work."""
        last, self._last = self._last, self._spent()
        share = self._share = (self._last - last) / seconds
        self._most = max(self._most, share)
        rests = self._most >= BUSY and share * QUIETER <= self._most
        self._quiet = self._quiet + 1 if rests else 0
        return self._quiet

    @property
    def is_quiet(self) -> bool:
        """Tell whether there was no work in the last period."""
        return self._share < BUSY


def forget() -> None:
    """Forget what can be made anew: what its holders say is so, names of files, results of functions, spare tuples."""
    forget_all()
    forget_folders()
    for name, module in tuple(sys.modules.items()):
        if name.startswith("hyperkube"):
            for value in tuple(vars(module).values()):
                if type(value) is _REMEMBERING and value.cache_info().currsize > _FEW:
                    value.cache_clear()
    gc.collect()


def wait_until_stopped(
    stopped: Stop,
    give: Callable[[], None] = give_back,
    *,
    rest: Rest | None = None,
    forgets: Callable[[], None] = forget,
    let_go: Callable[[], None] | None = None,
    pools: EmptyPools | None = None,
    each_period: Callable[[], None] | None = None,
) -> None:
    """Wait until the server is to end; meanwhile give memory back when the start is over, and regularly from then on.

    The main thread has nothing else to do, so that this takes no thread. `let_go` is called for what is mapped of
    libraries (see `library_pages`): when the start is over, a period later, every `LIBRARY_PERIODS`, and at rest. For
    minutes of it `pools` without objects go, too. `each_period` is called after each wait.
    """
    let_go, pools = let_go or LibraryPages().let_go, pools or EmptyPools()
    pause, rest, rounds = FIRST_SECONDS, rest or Rest(), 0
    while not stopped.wait(pause):
        is_due = not rounds % LIBRARY_PERIODS
        forget_folders()  # those of imports that a load came with
        if rest.is_new(pause):
            pools.take_back()  # there may be others when all is forgotten
            forgets()
        if each_period is not None:
            each_period()
        if rest.is_settling or (rest.is_quiet and (is_due or pools.had_work)):
            pools.let_go()  # others each time: what is made anew lies beside what stays, as empty pools are held
        give()
        if rest.is_fresh or is_due or rounds == 1:
            let_go()
        pause, rounds = PERIOD_SECONDS, rounds + 1
    pools.close()
