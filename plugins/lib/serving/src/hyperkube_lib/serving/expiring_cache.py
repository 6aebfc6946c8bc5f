"""Answers that are good for a while: a cache whose entries end by themselves.

Source: kubernetes apimachinery ``pkg/util/cache/expiring.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from hyperkube.machinery.clock import Clock

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

MOST_ENTRIES = 1000


class ExpiringCache(Generic[Key, Value]):
    """Answers by question; thread-safe. A full one is emptied, so that no client can make it grow."""

    def __init__(self, clock: Clock, seconds: Callable[[Value], float], *, most: int = MOST_ENTRIES) -> None:
        """Keep nothing yet.

        Args:
            clock: says when an answer is too old.
            seconds: returns for how long a given answer is good.
            most: how many answers are kept.
        """
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._lock = threading.Lock()
        self._entries: dict[Key, tuple[float, Value]] = {}

    def get(self, key: Key, ask: Callable[[], Value]) -> Value:
        """Return the kept answer, or ask and keep what comes; what `ask` raises is not kept."""
        now = self._clock.monotonic()
        with self._lock:
            entry = self._entries.get(key)
        if entry is not None and now < entry[0]:
            return entry[1]
        value = ask()
        with self._lock:
            if len(self._entries) >= self._most:
                self._entries.clear()
            self._entries[key] = (now + self._seconds(value), value)
        return value
