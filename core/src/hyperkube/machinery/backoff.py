"""Waiting longer after each failure: one sequence of delays, and one per key on a clock.

Sources: kubernetes apimachinery ``pkg/util/wait/backoff.go`` and client-go ``util/flowcontrol/backoff.go``.
"""

from __future__ import annotations

import threading
from random import Random

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays in seconds that grow by `factor` from `initial` to `cap`, each lengthened by up to `jitter` of itself."""

    initial: float
    cap: float
    factor: float = 2.0
    jitter: float = 0.0

    def delay(self, failures: int, random: Random | None = None) -> float:
        """Return the seconds to wait after so many failures (the first is number 1; none means no wait)."""
        if failures <= 0:
            return 0.0
        try:
            seconds = min(self.cap, self.initial * self.factor ** (failures - 1))
        except OverflowError:
            seconds = self.cap
        if self.jitter and random is not None:
            seconds += seconds * self.jitter * random.random()
        return seconds


@dataclass(slots=True)
class _Entry:
    delay: float
    updated: float


class KeyedBackoff:
    """A back-off per key on a clock: image pulls, crashing containers. Thread-safe.

    A key that was left alone for twice the cap starts anew.
    """

    def __init__(self, clock: Clock, backoff: Backoff, random: Random | None = None) -> None:
        self._clock = clock
        self._backoff = backoff
        self._random = random
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def failed(self, key: str) -> float:
        """Note a failure now and return the seconds to wait from now on."""
        now = self._clock.monotonic()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or self._expired(entry, now):
                delay = self._backoff.initial
            else:
                delay = min(self._backoff.cap, entry.delay * self._backoff.factor)
            self._entries[key] = _Entry(delay, now)
        if self._backoff.jitter and self._random is not None:
            delay += delay * self._backoff.jitter * self._random.random()
        return delay

    def delay(self, key: str) -> float:
        """Return the current delay of a key; 0 when it has not failed."""
        with self._lock:
            entry = self._entries.get(key)
            return entry.delay if entry is not None else 0.0

    def remaining(self, key: str) -> float:
        """Return the seconds that still have to pass before `key` may be tried; 0 when it may be now."""
        now = self._clock.monotonic()
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or self._expired(entry, now):
                return 0.0
            return max(0.0, entry.updated + entry.delay - now)

    def forget(self, key: str) -> None:
        """Let the next failure of `key` be its first."""
        with self._lock:
            self._entries.pop(key, None)

    def collect(self) -> None:
        """Drop the keys that would start anew anyway; call it now and then."""
        now = self._clock.monotonic()
        with self._lock:
            for key in [key for key, entry in self._entries.items() if self._expired(entry, now)]:
                del self._entries[key]

    def _expired(self, entry: _Entry, now: float) -> bool:
        return now - entry.updated > 2 * self._backoff.cap
