"""``--kube-api-qps`` and ``--kube-api-burst``: how often a server asks the API server.

Source: client-go ``util/flowcontrol/throttle.go``. There a request waits before it is sent, here its thread waits
after it: the rate over time is the same, and the first request of a quiet process is not kept waiting.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hyperkube.client.request_counts import RequestCounts
from hyperkube.machinery.clock import Clock, SystemClock

if TYPE_CHECKING:
    from hyperkube.plugin.flags import FlagValues


class PacedRequestCounts(RequestCounts):
    """Counts, and holds the thread of a request back while there are more than the rate allows; thread-safe."""

    def __init__(self, clock: Clock, qps: float, burst: int) -> None:
        """Let `burst` requests through at once, and `qps` a second from then on."""
        super().__init__()
        self._clock = clock
        self._qps = qps
        self._burst = max(1, burst)
        self._pace = threading.Lock()
        self._tokens = float(self._burst)
        self._filled_at = clock.monotonic()

    def count(self, code: str, method: str, host: str) -> None:
        """Count a request, and wait until the next one may be sent."""
        super().count(code, method, host)
        with self._pace:
            now = self._clock.monotonic()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps) - 1.0
            self._filled_at = now
            wait = -self._tokens / self._qps
        if wait > 0:
            self._clock.sleep(wait)


def request_counts(values: FlagValues) -> RequestCounts:
    """Return what counts the requests of a server's clients, and paces them if the flags say so."""
    if values["kube-api-qps"] <= 0:
        return RequestCounts()
    return PacedRequestCounts(SystemClock(), values["kube-api-qps"], values["kube-api-burst"])
