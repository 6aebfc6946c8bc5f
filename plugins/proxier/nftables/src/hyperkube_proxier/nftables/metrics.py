"""The metrics of the proxier, under the names of kube-proxy's.

Source: kubernetes ``pkg/proxy/metrics/metrics.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hyperkube.hookspecs.proxier import IPFamily
from hyperkube.machinery.metric_families import Counter

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_PREFIX = "kubeproxy_sync_proxy_rules_nftables_"


class TableMetrics:
    """How often a transaction failed; a collector of `prometheus_client`, thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures = Counter(_PREFIX + "sync_failures", "Syncs that failed.", ("ip_family",))
        self._cleanup_failures = Counter(
            _PREFIX + "cleanup_failures", "Deletions of stale chains that failed.", ("ip_family",)
        )

    def sync_failed(self, family: IPFamily) -> None:
        """Count a sync that failed."""
        with self._lock:
            self._failures.add((family,))

    def cleanup_failed(self, family: IPFamily) -> None:
        """Count stale chains that could not be deleted."""
        with self._lock:
            self._cleanup_failures.add((family,))

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families that counted something."""
        with self._lock:
            yield from [each.family(each.rows) for each in (self._failures, self._cleanup_failures) if each.rows]
