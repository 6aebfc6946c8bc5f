"""What the controller tells of slices at ``/metrics``.

Source of names, labels and meanings: kubernetes ``staging/src/k8s.io/endpointslice/metrics``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hyperkube_controller.endpointslice.reconciler import SlicePlan
from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Histogram, growing

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

PREFIX = "endpoint_slice_controller_"
_BUCKETS = growing(2, 2, 15)
_CHANGED_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_OTHER_DISTRIBUTION = "ImplementationSpecific"


class EndpointSliceMetrics(ControllerMetrics):
    """Counts, and what each service has and should have; thread-safe.

    Args:
        limit: how many endpoints a slice holds at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._added = Histogram(
            f"{PREFIX}endpoints_added_per_sync", "Number of endpoints added on each Service sync", _BUCKETS
        )
        self._removed = Histogram(
            f"{PREFIX}endpoints_removed_per_sync", "Number of endpoints removed on each Service sync", _BUCKETS
        )
        self._changed = Histogram(
            f"{PREFIX}endpointslices_changed_per_sync",
            "Number of EndpointSlices changed on each Service sync",
            _CHANGED_BUCKETS,
            ("topology", "traffic_distribution"),
        )
        super().__init__(self._added, self._removed, self._changed)
        self._changes: dict[str, int] = {}
        self._syncs: dict[str, int] = {}
        self._sizes: dict[str, dict[str, Sequence[tuple[int, int]]]] = {}
        self._distributions: dict[str, str] = {}

    def planned(self, key: str, plans: Sequence[SlicePlan], distribution: str) -> None:
        """Take what a sync found: how many endpoints come and go, and what the service is to have."""
        for plan in plans:
            if plan.address_type:
                self.observe(self._added, plan.added)
                self.observe(self._removed, plan.removed)
        with self._lock:
            self._sizes[key] = {plan.address_type: tuple(plan.sizes) for plan in plans if plan.address_type}
            if distribution:
                self._distributions[key] = distribution if distribution == "PreferClose" else _OTHER_DISTRIBUTION
            else:
                self._distributions.pop(key, None)

    def written(self, operation: str) -> None:
        """Count a write that was accepted: ``create``, ``update`` or ``delete``."""
        with self._lock:
            self._changes[operation] = self._changes.get(operation, 0) + 1

    def changed(self, slices: int, *, topology: bool, distribution: str) -> None:
        """Take how many slices of one address type a sync has changed."""
        self.observe(self._changed, slices, ("Auto" if topology else "Disabled", distribution))

    def synced(self, result: str) -> None:
        """Count a sync: ``success``, ``stale`` or ``error``."""
        with self._lock:
            self._syncs[result] = self._syncs.get(result, 0) + 1

    def forget(self, key: str) -> None:
        """Forget a service that is gone."""
        with self._lock:
            self._sizes.pop(key, None)
            self._distributions.pop(key, None)

    def collect(self) -> Iterator[Metric]:
        """Return the families as of now."""
        from prometheus_client.metrics_core import GaugeMetricFamily, UnknownMetricFamily

        yield from super().collect()
        with self._lock:
            changes, syncs = dict(self._changes), dict(self._syncs)
            sizes = [size for families in self._sizes.values() for size in families.values()]
            distributions = list(self._distributions.values())
        for name, text, value in (
            ("endpoints_desired", "Number of endpoints desired", sum(count for size in sizes for count, _ in size)),
            ("num_endpoint_slices", "Number of EndpointSlices", sum(slices for size in sizes for _, slices in size)),
            (
                "desired_endpoint_slices",
                "Number of EndpointSlices that would exist with perfect endpoint allocation",
                sum(map(self._desired_slices, sizes)),
            ),
        ):
            yield GaugeMetricFamily(PREFIX + name, text, value=value)
        by_distribution = GaugeMetricFamily(
            f"{PREFIX}services_count_by_traffic_distribution",
            "Number of Services using some specific trafficDistribution",
            labels=("traffic_distribution",),
        )
        for distribution in sorted(set(distributions)):
            by_distribution.add_metric((distribution,), distributions.count(distribution))
        yield by_distribution
        # Kubernetes' names for these two lack the ending that Prometheus' library gives to each counter.
        for name, text, label, rows in (
            ("changes", "Number of EndpointSlice changes", "operation", changes),
            ("syncs", "Number of EndpointSlice syncs", "result", syncs),
        ):
            family = UnknownMetricFamily(PREFIX + name, text, labels=(label,))
            for value_of_label, count in sorted(rows.items()):
                family.add_metric((value_of_label,), count)
            yield family

    def _desired_slices(self, size: Sequence[tuple[int, int]]) -> int:
        """Return how few slices would do for a service; there is always one, the placeholder at least."""
        return max(1, sum(-(-count // self._limit) for count, _ in size))
