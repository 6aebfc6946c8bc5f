"""The node table's lock, for which news need not wait: who finds it taken leaves the work to the next holder.

A thread that waits for a lock gets it while it has not got the interpreter, and keeps it all the time until its turn
comes. The scheduler, which takes the lock for each pod, then waits for two turns of the interpreter instead of none: in
a burst that was most of its time.

Source of the idea: kubernetes ``pkg/scheduler/backend/cache/cache.go`` (UpdateSnapshot), where a cycle takes in at its
beginning what has come since the last one.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

_log = logging.getLogger("hyperkube.scheduler")


class TableLock:
    """A reentrant lock. Who enters it first sees everything done that was left before, in order."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._left: deque[Callable[[], object]] = deque()
        self._depth = 0  # the holder's

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        # Not when it is held already: what the holder has found, and may have changed for a trial, stays as it is.
        if self._depth == 1 and self._left:
            self._catch_up()

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._lock.release()

    def do_or_leave(self, work: Callable[[], object]) -> None:
        """Do something under the lock now if it is free, else have the next one who enters do it; never waits.

        An error of `work` is logged.
        """
        # Into the line first, so that nothing that is left later comes before it. Should the lock be released right
        # after it was found taken, the work stays in line, and as nothing is looked at without the lock, it is in time.
        self._left.append(work)
        if self._lock.acquire(blocking=False):
            try:
                self._catch_up()
            finally:
                self._lock.release()

    def _catch_up(self) -> None:
        left = self._left
        while left:
            work = left.popleft()
            try:
                work()
            except Exception:  # noqa: BLE001  another thread's work must not end this one's; it is logged
                _log.exception("news of the cluster could not be taken in")
