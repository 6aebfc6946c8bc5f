"""What the scheduler counts and times, under the names that dashboards for kube-scheduler ask for.

Counting is a dictionary look-up; families are put together only when ``/metrics`` is read. Gauges are asked of
their owners then. Source of names, labels and buckets: kubernetes ``pkg/scheduler/metrics/metrics.go`` (1.36).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from hyperkube_host.scheduler.metrics.evaluation_counts import EvaluationCounts
from hyperkube_lib.serving.component_metrics import Collector, Release, registry_of

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.metric_families import Counter, Histogram, Labels, growing

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

PREFIX = "scheduler_"
SCHEDULED, UNSCHEDULABLE, ERROR = "scheduled", "unschedulable", "error"
"""Results of an attempt."""
WAITING_ON_PREEMPTION = "waiting_on_preemption"
"""A fourth result, of an attempt at a pod group."""

Row = TypeVar("Row")
Gauge = Callable[[], Mapping[Labels, float]]
"""Label values → value, as of now."""


class SchedulerMetrics:
    """One scheduler's metrics; thread-safe. A collector of `prometheus_client`, see `registry`."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._gauges: list[tuple[str, str, Labels, Gauge]] = []
        self._counters: list[Counter] = []
        self._histograms: list[Histogram] = []
        self._evaluation_counts: dict[tuple[Labels, Labels, str], EvaluationCounts] = {}
        result, milliseconds, short = ("result", "profile"), growing(0.001, 2, 15), growing(0.00001, 1.5, 20)
        count, time = self._counter, self._histogram
        self._attempts = count("schedule_attempts", "Attempts to schedule a pod, by result.", *result)
        self._incoming = count("queue_incoming_pods", "Pods put into a queue, by event.", "queue", "event")
        self._preemptions = count("preemption_attempts", "Attempts to make room for a pod.")
        self._flushed = count("pod_scheduled_after_flush", "Pods bound after they had waited in vain for an event.")
        self._evaluations = count(
            "plugin_evaluation", "Attempts at pods in which a plugin had a say.", "plugin", "extension_point", "profile"
        )
        self._evictions = count("preemption_goroutines_execution", "Times that victims were evicted.", "result")
        self._groups = count("podgroup_schedule_attempts", "Attempts to schedule a pod group, by result.", *result)
        for counter in (self._preemptions, self._flushed):
            counter.rows[()] = 0
        self._latency = time(
            "scheduling_attempt_duration_seconds", "Time of an attempt: algorithm and binding.", milliseconds, *result
        )
        self._algorithm = time("scheduling_algorithm_duration_seconds", "Time of the algorithm.", milliseconds)
        self._end_to_end = time(
            "pod_scheduling_sli_duration_seconds", "Time from entering the queue to being bound, over all attempts.",
            growing(0.01, 2, 20), "attempts",
        )  # fmt: skip
        self._tries = time("pod_scheduling_attempts", "Attempts that a bound pod took.", growing(1, 2, 5))
        self._victims = time("preemption_victims", "Pods chosen to make room for one.", growing(1, 2, 7))
        self._points = time(
            "framework_extension_point_duration_seconds", "Time of all plugins of an extension point.",
            growing(0.0001, 2, 12), "extension_point", "status", "profile",
        )  # fmt: skip
        self._plugins = time(
            "plugin_execution_duration_seconds", "Time of one plugin at an extension point, of every tenth attempt.",
            short, "plugin", "extension_point", "status",
        )  # fmt: skip
        self._hints = time(
            "queueing_hint_execution_duration_seconds", "Time to learn whether an event may help a pod, of some.",
            short, "plugin", "event", "hint",
        )  # fmt: skip
        self._events = time(
            "event_handling_duration_seconds", "Time to take in one event.", growing(0.0001, 2, 12), "event"
        )
        self._permits = time(
            "permit_wait_duration_seconds", "Time that pods waited for a permission.", milliseconds, "result"
        )
        self._evicting = time(
            "preemption_goroutines_duration_seconds", "Time to evict victims.", growing(0.01, 2, 20), "result"
        )
        self._group_latency = time(
            "podgroup_scheduling_attempt_duration_seconds", "Time of an attempt at a pod group.", milliseconds, *result
        )
        self._group_algorithm = time(
            "podgroup_scheduling_algorithm_duration_seconds", "Time of the algorithm for a pod group.", milliseconds
        )

    def attempt(self, result: str, profile: str, seconds: float) -> None:
        """Count an attempt that took so long, binding included."""
        with self._lock:
            self._attempts.add((result, profile))
            self._latency.observe((result, profile), seconds)

    def decided(self, seconds: float) -> None:
        """Count the time of one run of the algorithm."""
        with self._lock:
            self._algorithm.observe((), seconds)

    def bound(self, attempts: int, seconds: float, *, flushed: bool = False) -> None:
        """Count a pod that was bound after that many attempts, so long after it entered the queue.

        With `flushed` its last attempt was made because it had waited too long for an event that may help it.
        """
        with self._lock:
            self._end_to_end.observe((str(attempts) if attempts < 15 else "15+",), seconds)
            self._tries.observe((), attempts)
            if flushed:
                self._flushed.add(())

    def preempted(self, victims: int) -> None:
        """Count an attempt to make room, with the number of pods it chose; 0 if it came to nothing."""
        with self._lock:
            self._preemptions.add(())
            if victims:
                self._victims.observe((), victims)

    def evicted(self, result: str, seconds: float) -> None:
        """Count that victims were evicted: ``success`` or ``error``."""
        with self._lock:
            self._evictions.add((result,))
            self._evicting.observe((result,), seconds)

    def incoming(self, queue: str, event: str) -> None:
        """Count a pod that entered a queue because of an event."""
        with self._lock:
            self._incoming.add((queue, event))

    def point(self, name: str, status: str, profile: str, seconds: float) -> None:
        """Count the time that an extension point's plugins took for one pod."""
        with self._lock:
            self._points.observe((name, status, profile), seconds)

    def plugins(self, calls: Iterable[tuple[tuple[str, str, str], float]]) -> None:
        """Count the times of calls of plugins: each one's name, extension point and status, and its seconds."""
        with self._lock:
            for labels, seconds in calls:
                self._plugins.observe(labels, seconds)

    def evaluated(self, names: tuple[str, ...], point: str, profile: str) -> None:
        """Count an attempt in which these plugins were evaluated at a point."""
        with self._lock:
            for name in names:
                self._evaluations.add((name, point, profile))

    def evaluation_counts(self, filters: Labels, scores: Labels, profile: str) -> EvaluationCounts:
        """Return the counts, raised without a call, of pods for which these plugins of a profile are evaluated."""
        with self._lock:
            found = self._evaluation_counts.get((filters, scores, profile))
            if found is None:
                found = self._evaluation_counts[filters, scores, profile] = EvaluationCounts(filters, scores)
            return found

    def hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Count the time it took to learn whether an event may help a pod: ``Queue`` or ``QueueSkip``."""
        with self._lock:
            self._hints.observe((plugin, event, hint), seconds)

    def event(self, name: str, seconds: float) -> None:
        """Count the time it took to take in one event, e.g. ``NodeAdd``."""
        with self._lock:
            self._events.observe((name,), seconds)

    def waited(self, result: str, seconds: float) -> None:
        """Count the time that a pod waited for a permission."""
        with self._lock:
            self._permits.observe((result,), seconds)

    def group(self, result: str, profile: str, seconds: float) -> None:
        """Count an attempt at a pod group."""
        with self._lock:
            self._groups.add((result, profile))
            self._group_latency.observe((result, profile), seconds)

    def group_decided(self, seconds: float) -> None:
        """Count the time of one run of the algorithm for a pod group."""
        with self._lock:
            self._group_algorithm.observe((), seconds)

    def gauge(self, name: str, text: str, labels: Labels, now: Gauge) -> None:
        """Offer a gauge that is asked whenever the metrics are read."""
        self._gauges.append((name, text, labels, now))

    def registry(self, *more: Collector) -> CollectorRegistry:
        """Return a registry with these metrics, more, and the process's own, for `hyperkube_lib.serving.endpoints`."""
        return registry_of(Release(), self, *more)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry())

    def collect(self) -> Iterator[Metric]:
        """Put the families together."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        for name, text, labels, now in self._gauges:
            gauge = GaugeMetricFamily(PREFIX + name, text, labels=labels)
            for values, value in now().items():
                gauge.add_metric(values, value)
            yield gauge
        for counter in self._counters:
            rows = self._copied(counter.rows)
            yield counter.family(self._with_evaluation_counts(rows) if counter is self._evaluations else rows)
        for histogram in self._histograms:
            yield histogram.family(self._copied(histogram.rows))

    def _with_evaluation_counts(self, rows: dict[Labels, int]) -> dict[Labels, int]:
        """Add what was counted for sets of plugins to each one's own count."""
        for (filters, scores, profile), evaluation_counts in list(self._evaluation_counts.items()):
            for point, names, count in (
                ("Filter", filters, evaluation_counts.filtered),
                ("Score", scores, evaluation_counts.scored),
            ):
                for name in names if count else ():
                    rows[name, point, profile] = rows.get((name, point, profile), 0) + count
        return rows

    def _copied(self, rows: dict[Labels, Row]) -> dict[Labels, Row]:
        with self._lock:
            return dict(rows)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        made = Counter(PREFIX + name, text, labels)
        self._counters.append(made)
        return made

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        made = Histogram(PREFIX + name, text, buckets, labels)
        self._histograms.append(made)
        return made
