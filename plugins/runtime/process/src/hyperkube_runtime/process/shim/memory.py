"""Memory limits on a machine that gives us no control groups: a look twice a second, and the end of what is over it."""

from __future__ import annotations

import os

from .descendants import descendants
from .kernel_files import read_text

CHECK_SECONDS = 0.5
_PAGE = os.sysconf("SC_PAGE_SIZE")


class MemoryWatch:
    """Compares what the processes below this one use with a limit.

    Attributes:
        next_check: when to look again, in monotonic seconds; None without a limit, and once it was exceeded.
        was_exceeded: whether the limit was exceeded.
    """

    def __init__(self, limit: int) -> None:
        """Watch for more than `limit` bytes; 0 for no limit."""
        self._limit = limit
        self.next_check: float | None = 0.0 if limit else None
        self.was_exceeded = False

    def exceeds(self, now: float) -> bool:
        """Tell whether the limit is found to be exceeded now; True once at most."""
        if self.next_check is None or now < self.next_check:
            return False
        self.was_exceeded = is_over(os.getpid(), self._limit)
        self.next_check = None if self.was_exceeded else now + CHECK_SECONDS
        return self.was_exceeded


def is_over(pid: int, limit: int) -> bool:
    """Tell whether the processes below `pid` use more than `limit` bytes."""
    pids = descendants(pid)
    # Resident sets count shared pages once per process. Only if their sum is over the limit is it worth what the
    # exact figure costs.
    return sum(map(_resident, pids)) > limit and sum(map(_proportional, pids)) > limit


def _resident(pid: int) -> int:
    fields = read_text(f"/proc/{pid}/statm").split()
    return int(fields[1]) * _PAGE if fields else 0


def _proportional(pid: int) -> int:
    for line in read_text(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0
