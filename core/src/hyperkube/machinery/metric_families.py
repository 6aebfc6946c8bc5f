"""Counters, gauges and histograms as plain dictionaries, made into Prometheus' families when they are read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from hyperkube.machinery.dataclass import dataclass

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Labels = tuple[str, ...]


def growing(first: float, factor: float, count: int) -> tuple[float, ...]:
    """Return the upper bounds of buckets, each `factor` times as large as the one before."""
    return tuple(round(first * factor**step, 12) for step in range(count))


@dataclass(slots=True)
class Counter:
    """Numbers that only grow, by label values; not thread-safe."""

    name: str
    help: str
    labels: Labels = ()
    rows: dict[Labels, int] = field(default_factory=dict)

    def add(self, labels: Labels, by: int = 1) -> None:
        """Count."""
        self.rows[labels] = self.rows.get(labels, 0) + by

    def family(self, rows: Mapping[Labels, int]) -> Metric:
        """Return the family of a copy of the rows."""
        from prometheus_client.metrics_core import CounterMetricFamily

        family = CounterMetricFamily(self.name, self.help, labels=self.labels)
        for values, count in rows.items():
            family.add_metric(values, count)
        return family


@dataclass(slots=True)
class Gauge:
    """Numbers as they are now, by label values; not thread-safe."""

    name: str
    help: str
    labels: Labels = ()
    rows: dict[Labels, float] = field(default_factory=dict)

    def family(self, rows: Mapping[Labels, float]) -> Metric:
        """Return the family of a copy of the rows."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        family = GaugeMetricFamily(self.name, self.help, labels=self.labels)
        for values, number in rows.items():
            family.add_metric(values, number)
        return family


@dataclass(slots=True)
class Histogram:
    """Observed values by label values: per row a count for each bucket, then the sum; not thread-safe."""

    name: str
    help: str
    buckets: tuple[float, ...]
    labels: Labels = ()
    rows: dict[Labels, tuple[list[int], list[float]]] = field(default_factory=dict)

    def observe(self, labels: Labels, value: float) -> None:
        """Take a value."""
        row = self.rows.get(labels)
        if row is None:
            row = self.rows[labels] = ([0] * (len(self.buckets) + 1), [0.0])
        row[0][bisect_left(self.buckets, value)] += 1
        row[1][0] += value

    def cumulated(self, labels: Labels) -> tuple[list[tuple[str, float]], float]:
        """Return of one row the counts by upper bound, each with those below it, and the sum."""
        counts, total = self.rows.get(labels, ([0] * (len(self.buckets) + 1), [0.0]))
        return _cumulated(self.buckets, counts), total[0]

    def family(self, rows: Mapping[Labels, tuple[list[int], list[float]]]) -> Metric:
        """Return the family of a copy of the rows."""
        from prometheus_client.metrics_core import HistogramMetricFamily

        family = HistogramMetricFamily(self.name, self.help, labels=self.labels)
        for values, (counts, total) in rows.items():
            family.add_metric(values, _cumulated(self.buckets, counts), total[0])
        return family


def _cumulated(buckets: tuple[float, ...], counts: list[int]) -> list[tuple[str, float]]:
    rows: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip((*buckets, float("inf")), list(counts), strict=True):
        seen += count
        rows.append(("+Inf" if bound == float("inf") else f"{bound:g}", seen))
    return rows
