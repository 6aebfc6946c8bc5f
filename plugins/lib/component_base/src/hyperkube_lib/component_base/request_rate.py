"""``--kube-api-qps`` and ``--kube-api-burst``: how often a server asks the API server.

Source: client-go ``util/flowcontrol/throttle.go``. There a request waits before it is sent, here its thread waits
after it: the rate over time is the same, and the first request of a quiet process is not kept waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.component_base.token_bucket import TokenBucket

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
        self._bucket = TokenBucket(clock, qps, burst)

    def count(self, code: str, method: str, host: str) -> None:
        """Count a request, and wait until the next one may be sent."""
        super().count(code, method, host)
        wait = self._bucket.reserve()
        if wait > 0:
            self._clock.sleep(wait)


def request_counts(values: FlagValues) -> RequestCounts:
    """Return what counts the requests of a server's clients, and paces them if the flags say so."""
    if values["kube-api-qps"] <= 0:
        return RequestCounts()
    return PacedRequestCounts(SystemClock(), values["kube-api-qps"], values["kube-api-burst"])
