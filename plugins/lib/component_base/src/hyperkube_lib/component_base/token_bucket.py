"""A token bucket: so many at once, so many a second from then on.

Source: golang.org/x/time/rate, as client-go's ``util/flowcontrol`` uses it.
"""

from __future__ import annotations

import threading

from hyperkube.machinery.clock import Clock


class TokenBucket:
    """Hands out tokens, also those that are yet to come; thread-safe."""

    def __init__(self, clock: Clock, rate: float, burst: int) -> None:
        """Begin with a full bucket of `burst` tokens; `rate` are added each second."""
        self._clock = clock
        self._rate = rate
        self._burst = max(1, burst)
        self._lock = threading.Lock()
        self._tokens = float(self._burst)
        self._filled_at = clock.monotonic()

    def reserve(self) -> float:
        """Take a token; return the seconds until it is there, 0 or less for at once."""
        with self._lock:
            now = self._clock.monotonic()
            self._fill(now)
            self._tokens -= 1.0
            return -self._tokens / self._rate

    def try_accept(self) -> bool:
        """Take a token if one is there now; tell whether one was."""
        with self._lock:
            self._fill(self._clock.monotonic())
            accepted = self._tokens >= 1.0
            self._tokens -= accepted
            return accepted

    def _fill(self, now: float) -> None:
        self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now
