"""The limit of bindings per second, if flags set one: a token bucket, as in the 1.0 scheduler."""

from __future__ import annotations

import threading

from hyperkube_lib.component_base.token_bucket import TokenBucket

from hyperkube.machinery.clock import Clock


class BindPodsRateLimiter:
    """Hands out `burst` bindings at once and `qps` per second from then on; thread-safe."""

    def __init__(self, clock: Clock, qps: float, burst: int) -> None:
        """Start with a full bucket; a rate of 0 limits nothing."""
        self._clock = clock
        self._bucket = TokenBucket(clock, qps, burst) if qps > 0 else None

    def take(self, closing: threading.Event) -> None:
        """Wait for one binding's turn, not beyond `closing`."""
        wait = 0.0 if self._bucket is None else self._bucket.reserve()
        if wait > 0:
            self._clock.wait(closing, wait)
