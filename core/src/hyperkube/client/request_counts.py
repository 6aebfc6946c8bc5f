"""How often a process asked the API server, and what came of it.

Source: kubernetes component-base ``metrics/prometheus/restclient/metrics.go`` (``rest_client_requests_total``); a
request that came to no answer has the code ``<error>`` there and here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hyperkube.machinery.metric_families import Counter

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

UNANSWERED = "<error>"


class RequestCounts:
    """Counts for all clients of a process, and a collector of `prometheus_client`; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counter = Counter(
            "rest_client_requests", "Requests to the API server, by its answer.", ("code", "method", "host")
        )

    def count(self, code: str, method: str, host: str) -> None:
        """Count a request: the status of its answer or `UNANSWERED`, its verb, and where it went, ``HOST:PORT``."""
        with self._lock:
            self._counter.add((code, method, host))

    def collect(self) -> Iterator[Metric]:
        """Put the family together."""
        with self._lock:
            rows = dict(self._counter.rows)
        yield self._counter.family(rows)
