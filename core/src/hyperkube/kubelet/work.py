"""Threads that come and go with the work: one piece of work per key at a time, none while nothing is to do."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from hyperkube.machinery.clock import Clock, Timer

_IDLE_SECONDS = 3.0


class KeyedWork:
    """Calls one function per key: at once, later, and again if the key was added meanwhile.

    Up to `threads` keys are worked on at the same time; a thread that finds nothing for three seconds ends, so that
    a hundred idle nodes in one process cost no threads.
    """

    def __init__(self, name: str, work: Callable[[str], None], clock: Clock, *, threads: int = 64) -> None:
        """Call `work` with a key on a thread of this object's; what it raises is logged."""
        self._name = name
        self._work = work
        self._clock = clock
        self._limit = threads
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._condition = threading.Condition()
        self._ready: deque[str] = deque()
        self._waiting: set[str] = set()
        self._busy: set[str] = set()
        self._timers: dict[str, tuple[float, Timer]] = {}
        self._threads = 0
        self._idle = 0
        self._closed = False

    def add(self, key: str) -> None:
        """Work on `key` now, or once more after the work on it that is under way."""
        with self._condition:
            if self._closed or key in self._waiting:
                return
            self._waiting.add(key)
            if key not in self._busy:
                self._offer(key)

    def _offer(self, key: str) -> None:
        self._ready.append(key)
        if self._idle >= len(self._ready):
            self._condition.notify()
        elif self._threads < self._limit:
            self._threads += 1
            threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def add_after(self, key: str, seconds: float) -> None:
        """Work on `key` in `seconds`, or earlier if that was asked for."""
        if seconds <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + seconds
        with self._condition:
            earlier = self._timers.get(key)
            if self._closed or (earlier is not None and earlier[0] <= due):
                return
            if earlier is not None:
                earlier[1].cancel()
            self._timers[key] = (due, self._clock.call_later(seconds, lambda: self._due(key, due)))

    def _due(self, key: str, due: float) -> None:
        with self._condition:
            if self._timers.get(key, (0.0, None))[0] != due:
                return
            del self._timers[key]
        self.add(key)

    def forget(self, key: str) -> None:
        """Drop the delayed work on `key`."""
        with self._condition:
            entry = self._timers.pop(key, None)
        if entry is not None:
            entry[1].cancel()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._idle += 1
                found = self._condition.wait_for(lambda: self._ready or self._closed, _IDLE_SECONDS)
                self._idle -= 1
                if not found or self._closed:
                    self._threads -= 1
                    self._condition.notify_all()
                    return
                key = self._ready.popleft()
                self._waiting.discard(key)
                self._busy.add(key)
            try:
                self._work(key)
            except Exception:
                self._logger.exception("%s: work on %s failed", self._name, key)
                self.add_after(key, 1.0)
            with self._condition:
                self._busy.discard(key)
                if key in self._waiting:
                    self._offer(key)
                self._condition.notify_all()

    def settle(self, seconds: float = 5.0) -> bool:
        """Wait, in real time, until nothing is ready or under way; tell whether that came."""
        with self._condition:
            return self._condition.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Take no more keys, drop the waiting ones, and give the work under way `seconds` to end."""
        with self._condition:
            self._closed = True
            self._ready.clear()
            self._waiting.clear()
            for _, timer in self._timers.values():
                timer.cancel()
            self._timers.clear()
            self._condition.notify_all()
            self._condition.wait_for(lambda: not self._busy, seconds)
