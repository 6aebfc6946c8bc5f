"""The metrics of the proxy, under the names of kube-proxy's.

Source: kubernetes ``pkg/proxy/metrics/metrics.go``; the label ``ip_family`` is there since 1.33.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING

from hyperkube.hookspecs.proxier import IPFamily
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.metric_families import Counter, Histogram, growing

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric
    from prometheus_client.registry import Collector

_PREFIX = "kubeproxy_sync_proxy_rules_"
_BY_FAMILY = ("ip_family",)
_PROGRAMMING_BUCKETS = (
    *(0.25, 0.5),
    *(float(each) for each in range(1, 60)),
    *(float(each) for each in range(60, 120, 5)),
    *(float(each) for each in range(120, 330, 30)),
)


class Change(Enum):
    """The kind of object that changed; the value is part of metric names."""

    SERVICE = "service"
    ENDPOINT = "endpoint"


class ProxyMetrics:
    """One proxy's metrics, and a collector of `prometheus_client`; thread-safe."""

    def __init__(self, clock: Clock, families: tuple[IPFamily, ...]) -> None:
        self._clock = clock
        self._families = families
        self._lock = threading.Lock()
        buckets = growing(0.001, 2, 15)
        self._syncs = Histogram(_PREFIX + "duration_seconds", "Seconds of a sync.", buckets, _BY_FAMILY)
        self._full = Histogram(
            "kubeproxy_sync_full_proxy_rules_duration_seconds", "Seconds of a sync of everything.", buckets, _BY_FAMILY
        )
        self._partial = Histogram(
            "kubeproxy_sync_partial_proxy_rules_duration_seconds", "Seconds of a sync of changes.", buckets, _BY_FAMILY
        )
        self._programming = Histogram(
            "kubeproxy_network_programming_duration_seconds",
            "Seconds from the change of a pod or service until it is served.",
            _PROGRAMMING_BUCKETS,
            _BY_FAMILY,
        )
        self._conntrack = Histogram(
            "kubeproxy_conntrack_reconciler_sync_duration_seconds",
            "Seconds of a look at tracked connections.",
            buckets,
            _BY_FAMILY,
        )
        self._deleted = Counter(
            "kubeproxy_conntrack_reconciler_deleted_entries", "Tracked connections that were forgotten.", _BY_FAMILY
        )
        self._health_answers = {
            path: Counter(f"kubeproxy_proxy_{path}", f"Answers at /{path} by status.", ("code",))
            for path in ("healthz", "livez")
        }
        self._changes = dict.fromkeys(Change, 0)
        self._pending = dict.fromkeys(Change, 0)
        self._queued = 0.0
        self._synced: dict[IPFamily, float] = {}
        self._no_local_endpoints: dict[IPFamily, Mapping[str, int]] = {}
        self._collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Ask a plugin's collector too."""
        self._collectors.append(collector)

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

    def sync_ended(self, family: IPFamily, seconds: float, *, full: bool, succeeded: bool) -> None:
        """Count a sync of that duration."""
        with self._lock:
            self._syncs.observe((family,), seconds)
            (self._full if full else self._partial).observe((family,), seconds)
            if succeeded:
                self._synced[family] = self._clock.now().timestamp()

    def programmed(self, family: IPFamily, seconds: float) -> None:
        """Count an endpoint's change that is served now."""
        with self._lock:
            self._programming.observe((family,), seconds)

    def reconciled(self, family: IPFamily, seconds: float, deleted: int) -> None:
        """Count a look at tracked connections."""
        with self._lock:
            self._conntrack.observe((family,), seconds)
            self._deleted.add((family,), deleted)

    def answered(self, path: str, code: int) -> None:
        """Count an answer to a health check."""
        with self._lock:
            self._health_answers[path].add((str(code),))

    def no_local_endpoints(self, family: IPFamily, counts: Mapping[str, int]) -> None:
        """Note how many ports want endpoints of this node and have none, by traffic policy."""
        with self._lock:
            self._no_local_endpoints[family] = dict(counts)

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        with self._lock:
            families = [*self._own()]
        yield from families
        for collector in self._collectors:
            yield from collector.collect()

    def _own(self) -> Iterator[Metric]:
        histograms = (self._syncs, self._full, self._partial, self._programming, self._conntrack)
        counters = (self._deleted, *self._health_answers.values())
        # Like the reference, nothing is told of what has not happened yet.
        yield from (histogram.family(histogram.rows) for histogram in histograms if histogram.rows)
        yield from (counter.family(counter.rows) for counter in counters if counter.rows)
        for what in Change:
            name = f"{_PREFIX}{what.value}_changes"
            yield self._by_family(name, f"Changes of a kind: {what.value}.", self._changes[what], counter=True)
            yield self._by_family(
                f"{name}_pending", f"Changes that are not served yet: {what.value}.", self._pending[what]
            )
        yield self._by_family(_PREFIX + "last_queued_timestamp_seconds", "When, in seconds since 1970.", self._queued)
        yield self._last_sync()
        yield self._without_local_endpoints()

    def _by_family(self, name: str, text: str, value: float, *, counter: bool = False) -> Metric:
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        metric = (CounterMetricFamily if counter else GaugeMetricFamily)(name, text, labels=_BY_FAMILY)
        for family in self._families:
            metric.add_metric((family,), value)
        return metric

    def _last_sync(self) -> Metric:
        from prometheus_client.metrics_core import GaugeMetricFamily

        metric = GaugeMetricFamily(
            _PREFIX + "last_timestamp_seconds", "When, in seconds since 1970.", labels=_BY_FAMILY
        )
        for family, seconds in self._synced.items():
            metric.add_metric((family,), seconds)
        return metric

    def _without_local_endpoints(self) -> Metric:
        from prometheus_client.metrics_core import GaugeMetricFamily

        metric = GaugeMetricFamily(
            _PREFIX + "no_local_endpoints_total",
            "Service ports of traffic policy Local without endpoints on this node.",
            labels=("traffic_policy", "ip_family"),
        )
        for family, counts in self._no_local_endpoints.items():
            for policy, count in counts.items():
                metric.add_metric((policy, family), count)
        return metric
