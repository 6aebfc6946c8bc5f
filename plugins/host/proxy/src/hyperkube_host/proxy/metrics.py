"""The metrics of the proxy, under the names of kube-proxy's.

Here one sync serves both families of addresses; it is reported as ``IPv4``.
Source: kubernetes ``pkg/proxy/metrics/metrics.go``; the label ``ip_family`` is there since 1.33.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.metric_families import Histogram, growing

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

FAMILY = "IPv4"
_PREFIX = "kubeproxy_sync_proxy_rules_"


class Change(Enum):
    """The kind of object that changed; the value is part of metric names."""

    SERVICE = "service"
    ENDPOINT = "endpoint"


class ProxyMetrics:
    """One proxy's metrics, and a collector of `prometheus_client`; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._syncs = Histogram(
            _PREFIX + "duration_seconds", "Seconds of a sync.", growing(0.001, 2, 15), ("ip_family",)
        )
        self._changes = dict.fromkeys(Change, 0)
        self._pending = dict.fromkeys(Change, 0)
        self._queued = self._synced = 0.0

    def changed(self, what: Change) -> None:
        """Count a change that is to be synced."""
        with self._lock:
            self._changes[what] += 1
            self._pending[what] += 1
            self._queued = self._clock.now().timestamp()

    def sync_started(self) -> None:
        """Note that a sync begins, with all changes so far."""
        with self._lock:
            self._pending = dict.fromkeys(self._pending, 0)

    def sync_finished(self, seconds: float) -> None:
        """Count a successful sync of that duration."""
        with self._lock:
            self._syncs.observe((FAMILY,), seconds)
            self._synced = self._clock.now().timestamp()

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        with self._lock:
            syncs = self._syncs.family(self._syncs.rows)
            changes, pending = dict(self._changes), dict(self._pending)
            times = {"last_timestamp_seconds": self._synced, "last_queued_timestamp_seconds": self._queued}
        yield syncs
        for what, count in changes.items():
            yield CounterMetricFamily(
                f"{_PREFIX}{what.value}_changes", f"Changes of a kind: {what.value}.", value=count
            )
            yield GaugeMetricFamily(
                f"{_PREFIX}{what.value}_changes_pending",
                f"Changes that are not served yet: {what.value}.",
                value=pending[what],
            )
        for name, seconds in times.items():
            gauge = GaugeMetricFamily(_PREFIX + name, "When, in seconds since 1970.", labels=("ip_family",))
            gauge.add_metric((FAMILY,), seconds)
            yield gauge
