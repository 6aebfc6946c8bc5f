"""What a controller counts itself: families under one lock, put together when ``/metrics`` is read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hyperkube.hookspecs.base import PluginContext
from hyperkube.machinery.metric_families import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


class ControllerMetrics:
    """Counters, gauges and histograms of one controller; thread-safe."""

    def __init__(self, *families: Counter | Gauge | Histogram) -> None:
        self._lock = threading.Lock()
        self._families = families

    def register(self, context: PluginContext) -> None:
        """Bring the families to the host's registry, where there is one."""
        if context.metrics is not None:
            context.metrics.register(self)

    def add(self, counter: Counter, labels: tuple[str, ...] = (), by: int = 1) -> None:
        """Count; nothing where `by` is not positive."""
        if by > 0:
            with self._lock:
                counter.add(labels, by)

    def set(self, gauge: Gauge, value: float, labels: tuple[str, ...] = ()) -> None:
        """Note what a number is now."""
        with self._lock:
            gauge.rows[labels] = value

    def remove(self, gauge: Gauge, *labels: str) -> None:
        """Leave out the rows whose first labels have these values: what they were about is gone."""
        with self._lock:
            for row in [row for row in gauge.rows if row[: len(labels)] == labels]:
                del gauge.rows[row]

    def observe(self, histogram: Histogram, value: float, labels: tuple[str, ...] = ()) -> None:
        """Take a value."""
        with self._lock:
            histogram.observe(labels, value)

    def collect(self) -> Iterator[Metric]:
        """Return the families as of now."""
        for family in self._families:
            if isinstance(family, Histogram):
                with self._lock:
                    rows = {labels: (list(counts), list(total)) for labels, (counts, total) in family.rows.items()}
                yield family.family(rows)
            elif isinstance(family, Counter):
                with self._lock:
                    counted = dict(family.rows)
                yield family.family(counted)
            else:
                with self._lock:
                    numbers = dict(family.rows)
                yield family.family(numbers)
