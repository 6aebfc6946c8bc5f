"""The limit of bindings per second, if flags set one: a token bucket, as in the 1.0 scheduler."""

from __future__ import annotations

import threading

from hyperkube.machinery.clock import Clock


class BindPodsRateLimiter:
    """Hands out `burst` bindings at once and `qps` per second from then on; thread-safe."""

    def __init__(self, clock: Clock, qps: float, burst: int) -> None:
        """Start with a full bucket; a rate of 0 limits nothing."""
        self._clock = clock
        self._qps = qps
        self._burst = max(1, burst)
        self._lock = threading.Lock()
        self._tokens = float(self._burst)
        self._filled_at = clock.monotonic()

    def take(self, closing: threading.Event) -> None:
        """Wait for one binding's turn, not beyond `closing`."""
        if self._qps <= 0:
            return
        with self._lock:
            now = self._clock.monotonic()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps)
            self._filled_at = now
            self._tokens -= 1.0
            wait = -self._tokens / self._qps
        if wait > 0:
            self._clock.wait(closing, wait)
