"""What the scheduler counts and times, under the names that dashboards for kube-scheduler ask for.

Counting is a dictionary look-up; families are put together only when somebody reads ``/metrics``. Gauges are asked of
their owners then. Source of names, labels and buckets: kubernetes ``pkg/scheduler/metrics/metrics.go``.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from hyperkube.machinery.clock import Clock
from hyperkube.scheduler.cluster_state import ClusterState
from hyperkube.scheduler.queue import SchedulingQueue

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"
"""Results of an attempt."""
QUEUES = ("active", "backoff", "unschedulable", "gated")

Row = TypeVar("Row")
Labels = tuple[str, ...]
Gauge = Callable[[], Mapping[Labels, float]]
"""Label values → value, as of now."""


def _doubling(first: float, factor: float, count: int) -> tuple[float, ...]:
    return tuple(round(first * factor**step, 9) for step in range(count))


@dataclass(slots=True)
class _Histogram:
    name: str
    help: str
    buckets: tuple[float, ...]
    labels: Labels = ()
    rows: dict[Labels, tuple[list[int], list[float]]] = field(default_factory=dict)


@dataclass(slots=True)
class _Counter:
    name: str
    help: str
    labels: Labels = ()
    rows: dict[Labels, int] = field(default_factory=dict)


class SchedulerMetrics:
    """One scheduler's metrics; thread-safe. A collector of `prometheus_client`, see `registry`."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._gauges: list[tuple[str, str, Labels, Gauge]] = []
        milliseconds = _doubling(0.001, 2, 15)
        self._attempts = _Counter("schedule_attempts", "Attempts to schedule a pod, by result.", ("result", "profile"))
        self._incoming = _Counter("queue_incoming_pods", "Pods put into a queue, by event.", ("queue", "event"))
        self._preemptions = _Counter("preemption_attempts", "Attempts to make room for a pod.")
        self._preemptions.rows[()] = 0
        self._latency = _Histogram(
            "scheduling_attempt_duration_seconds", "Time of an attempt: algorithm and binding.", milliseconds,
            ("result", "profile"),
        )  # fmt: skip
        self._algorithm = _Histogram("scheduling_algorithm_duration_seconds", "Time of the algorithm.", milliseconds)
        self._end_to_end = _Histogram(
            "pod_scheduling_sli_duration_seconds", "Time from entering the queue to being bound, over all attempts.",
            _doubling(0.01, 2, 20), ("attempts",),
        )  # fmt: skip
        self._tries = _Histogram("pod_scheduling_attempts", "Attempts that a bound pod took.", _doubling(1, 2, 5))
        self._victims = _Histogram("preemption_victims", "Pods chosen to make room for one.", _doubling(1, 2, 7))
        self._points = _Histogram(
            "framework_extension_point_duration_seconds", "Time of all plugins of an extension point.",
            _doubling(0.0001, 2, 12), ("extension_point", "status", "profile"),
        )  # fmt: skip
        self._permits = _Histogram(
            "permit_wait_duration_seconds", "Time that pods waited for a permission.", milliseconds, ("result",)
        )

    def attempt(self, result: str, profile: str, seconds: float) -> None:
        """Count an attempt that took so long, binding included."""
        self._count(self._attempts, (result, profile))
        self._observe(self._latency, (result, profile), seconds)

    def decided(self, seconds: float) -> None:
        """Count the time of one run of the algorithm."""
        self._observe(self._algorithm, (), seconds)

    def bound(self, attempts: int, seconds: float) -> None:
        """Count a pod that was bound after that many attempts, so long after it entered the queue."""
        self._observe(self._end_to_end, (str(attempts) if attempts < 15 else "15+",), seconds)
        self._observe(self._tries, (), attempts)

    def preempted(self, victims: int) -> None:
        """Count an attempt to make room, with the number of pods it chose; 0 if it came to nothing."""
        self._count(self._preemptions, ())
        if victims:
            self._observe(self._victims, (), victims)

    def incoming(self, queue: str, event: str) -> None:
        """Count a pod that entered a queue because of an event."""
        self._count(self._incoming, (queue, event))

    def point(self, name: str, status: str, profile: str, seconds: float) -> None:
        """Count the time that an extension point's plugins took for one pod."""
        self._observe(self._points, (name, status, profile), seconds)

    def waited(self, result: str, seconds: float) -> None:
        """Count the time that a pod waited for a permission."""
        self._observe(self._permits, (result,), seconds)

    def gauge(self, name: str, text: str, labels: Labels, now: Gauge) -> None:
        """Offer a gauge that is asked whenever the metrics are read."""
        self._gauges.append((name, text, labels, now))

    def registry(self) -> CollectorRegistry:
        """Return a registry with these metrics, for `hyperkube.serving.endpoints`."""
        from prometheus_client import CollectorRegistry

        registry = CollectorRegistry()
        registry.register(self)
        return registry

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry())

    def collect(self) -> Iterator[Metric]:
        """Put the families together."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        for name, text, labels, now in self._gauges:
            gauge = GaugeMetricFamily(f"scheduler_{name}", text, labels=labels)
            for values, value in now().items():
                gauge.add_metric(values, value)
            yield gauge
        for counter in (self._attempts, self._incoming, self._preemptions):
            counted = CounterMetricFamily(f"scheduler_{counter.name}", counter.help, labels=counter.labels)
            for values, count in self._copied(counter.rows).items():
                counted.add_metric(values, count)
            yield counted
        for each in (
            self._latency, self._algorithm, self._end_to_end, self._tries, self._victims, self._points, self._permits,
        ):  # fmt: skip
            timed = HistogramMetricFamily(f"scheduler_{each.name}", each.help, labels=each.labels)
            for values, (counts, total) in self._copied(each.rows).items():
                timed.add_metric(values, _cumulated(each.buckets, counts), total[0])
            yield timed

    def _copied(self, rows: dict[Labels, Row]) -> dict[Labels, Row]:
        with self._lock:
            return dict(rows)

    def _count(self, counter: _Counter, labels: Labels) -> None:
        with self._lock:
            counter.rows[labels] = counter.rows.get(labels, 0) + 1

    def _observe(self, histogram: _Histogram, labels: Labels, value: float) -> None:
        with self._lock:
            row = histogram.rows.get(labels)
            if row is None:
                row = histogram.rows[labels] = ([0] * (len(histogram.buckets) + 1), [0.0])
            row[0][bisect_left(histogram.buckets, value)] += 1
            row[1][0] += value


class PointTimes:
    """Takes the times of one profile's extension points; implements `hyperkube.scheduler.cycle.Laps`."""

    def __init__(self, metrics: SchedulerMetrics, profile: str) -> None:
        self._metrics = metrics
        self._profile = profile
        self._since = 0.0

    def begin(self) -> None:
        """Start the first lap."""
        self._since = self._metrics.clock.monotonic()

    def lap(self, point: str, status: str) -> None:
        """End a lap, and start the next."""
        now = self._metrics.clock.monotonic()
        self._metrics.point(point, status, self._profile, now - self._since)
        self._since = now


def offer_gauges(metrics: SchedulerMetrics, queue: SchedulingQueue, state: ClusterState) -> None:
    """Offer what the queue and the cluster's state know whenever the metrics are read."""

    def pending() -> dict[Labels, float]:
        counts = queue.pending()
        return {(name,): counts[name] for name in QUEUES}

    def refusals() -> dict[Labels, float]:
        return {labels: count for labels, count in queue.refusals().items()}  # noqa: C416  the values' type is wider

    def sizes() -> dict[Labels, float]:
        return {(name,): count for name, count in state.sizes().items()}

    metrics.gauge("pending_pods", "Pods that are not placed yet, by queue.", ("queue",), pending)
    metrics.gauge(
        "unschedulable_pods", "Unschedulable pods by each plugin that refused nodes.", ("plugin", "profile"), refusals
    )
    metrics.gauge("scheduler_cache_size", "What the scheduler knows, by kind.", ("type",), sizes)


def _cumulated(buckets: tuple[float, ...], counts: list[int]) -> list[tuple[str, float]]:
    rows: list[tuple[str, float]] = []
    seen = 0
    for bound, count in zip((*buckets, float("inf")), list(counts), strict=True):
        seen += count
        rows.append(("+Inf" if bound == float("inf") else f"{bound:g}", seen))
    return rows
