"""The metrics of the proxier, under the names of kube-proxy's.

Source: kubernetes ``pkg/proxy/metrics/metrics.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from hyperkube.hookspecs.proxier import IPFamily
from hyperkube.machinery.metric_families import Counter

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

_PREFIX = "kubeproxy_sync_proxy_rules_iptables_"
_COUNTED = {
    "kubeproxy_iptables_ct_state_invalid_dropped_packets": "ct_state_invalid_dropped_pkts",
    "kubeproxy_iptables_localhost_nodeports_accepted_packets": "localhost_nps_accepted_pkts",
}
"""Metric → the kernel's counter."""


class RuleMetrics:
    """How many rules there are, and were written last; a collector of `prometheus_client`, thread-safe."""

    def __init__(self, packets: Callable[[str], int]) -> None:
        """Take what reads one of the kernel's counters; 0 for one that there is not."""
        self._packets = packets
        self._lock = threading.Lock()
        self._total: dict[tuple[str, IPFamily], int] = {}
        self._last: dict[tuple[str, IPFamily], int] = {}
        self._failures = Counter(_PREFIX + "restore_failures", "Syncs that failed.", ("ip_family",))
        self._partial_failures = Counter(
            _PREFIX + "partial_restore_failures", "Syncs of changes that failed.", ("ip_family",)
        )

    def wrote(self, family: IPFamily, *, total: Mapping[str, int], last: Mapping[str, int]) -> None:
        """Note a sync: the rules that there are by table, and those that it wrote."""
        with self._lock:
            self._total.update({(table, family): count for table, count in total.items()})
            self._last.update({(table, family): count for table, count in last.items()})

    def failed(self, family: IPFamily, *, partial: bool) -> None:
        """Count a sync that failed."""
        with self._lock:
            self._failures.add((family,))
            if partial:
                self._partial_failures.add((family,))

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        with self._lock:
            gauges = {"total": dict(self._total), "last": dict(self._last)}
            counters = [each.family(each.rows) for each in (self._failures, self._partial_failures) if each.rows]
        yield from counters
        for name, rows in gauges.items():
            gauge = GaugeMetricFamily(_PREFIX + name, f"Rules of iptables: {name}.", labels=("table", "ip_family"))
            for labels, count in rows.items():
                gauge.add_metric(labels, count)
            yield gauge
        for name, counter in _COUNTED.items():
            yield CounterMetricFamily(name, "Packets, as the kernel counts them.", value=self._packets(counter))
