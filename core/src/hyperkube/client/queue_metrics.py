"""What work queues tell of themselves, under the names that dashboards for Kubernetes' controllers ask for.

A queue counts with its own lock held, on its own clock; families are put together when ``/metrics`` is read.
Controllers make their queues themselves, so who runs them says around that where the queues are to report
(`measuring`), and two hosts in one process do not hear of each other's.
Source of names, buckets and meanings: kubernetes component-base ``metrics/prometheus/workqueue/metrics.go``,
client-go ``util/workqueue/metrics.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.metric_families import Histogram, growing

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

Key = TypeVar("Key", bound=Hashable)

BUCKETS = growing(1e-6, 10, 10)
"""Seconds: a microsecond to a thousand seconds."""


class QueueMeter(Generic[Key]):
    """Counts for one queue, which calls it with its lock held."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.adds = 0
        self.retries = 0
        self.waits = Histogram("", "", BUCKETS)
        self.works = Histogram("", "", BUCKETS)
        self._waiting: dict[Key, float] = {}
        self._worked_on: dict[Key, float] = {}

    @property
    def depth(self) -> int:
        """How many keys wait, those that are being worked on meanwhile among them."""
        return len(self._waiting)

    def added(self, key: Key) -> None:
        """Count a key that was not waiting yet."""
        self.adds += 1
        self._waiting[key] = self._clock.monotonic()

    def delayed(self) -> None:
        """Count a key that is to come back later."""
        self.retries += 1

    def taken(self, key: Key) -> None:
        """Note that work on a key begins."""
        now = self._clock.monotonic()
        self._worked_on[key] = now
        self.waits.observe((), now - self._waiting.pop(key))

    def done(self, key: Key) -> None:
        """Note that work on a key has ended."""
        begun = self._worked_on.pop(key, None)
        if begun is not None:
            self.works.observe((), self._clock.monotonic() - begun)

    def emptied(self) -> None:
        """Forget the keys that wait: the queue was shut down."""
        self._waiting.clear()

    def unfinished(self) -> list[float]:
        """Return for how long each key has been worked on, in seconds."""
        now = self._clock.monotonic()
        return [now - begun for begun in list(self._worked_on.values())]


class QueueMeters:
    """The meters of one host's queues, and a collector of `prometheus_client`; thread-safe."""

    def __init__(self, names: Mapping[str, str] = MappingProxyType({})) -> None:
        """Begin without any; `names` has what a queue is to be called, where that is not its loop's name."""
        self._names = names
        self._lock = threading.Lock()
        self._meters: dict[str, QueueMeter[str]] = {}

    def meter(self, name: str, clock: Clock) -> QueueMeter[str]:
        """Return the meter of a new queue; a name that is taken gets a number."""
        name = self._names.get(name, name)
        with self._lock:
            free, number = name, 1
            while free in self._meters:
                number += 1
                free = f"{name}-{number}"
            made = self._meters[free] = QueueMeter(clock)
        return made

    def collect(self) -> Iterator[Metric]:
        """Put the families together."""
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        def gauge(name: str, text: str) -> GaugeMetricFamily:
            return GaugeMetricFamily(f"workqueue_{name}", text, labels=("name",))

        def histogram(name: str, text: str) -> HistogramMetricFamily:
            return HistogramMetricFamily(f"workqueue_{name}", text, labels=("name",))

        depth = gauge("depth", "Keys that wait in a queue.")
        unfinished = gauge("unfinished_work_seconds", "Seconds that were spent on keys which are still worked on.")
        longest = gauge("longest_running_processor_seconds", "Seconds of the longest work that is under way.")
        adds = CounterMetricFamily("workqueue_adds", "Keys that came into a queue.", labels=("name",))
        retries = CounterMetricFamily("workqueue_retries", "Keys that were put off for later.", labels=("name",))
        waits = histogram("queue_duration_seconds", "Seconds that a key waited until work on it began.")
        works = histogram("work_duration_seconds", "Seconds of work on a key.")
        with self._lock:
            meters = sorted(self._meters.items())
        for name, meter in meters:
            running = meter.unfinished()
            depth.add_metric((name,), meter.depth)
            unfinished.add_metric((name,), sum(running))
            longest.add_metric((name,), max(running, default=0.0))
            adds.add_metric((name,), meter.adds)
            retries.add_metric((name,), meter.retries)
            waits.add_metric((name,), *meter.waits.cumulated(()))
            works.add_metric((name,), *meter.works.cumulated(()))
        yield from (depth, unfinished, longest, adds, retries, waits, works)


_meters: ContextVar[QueueMeters | None] = ContextVar("queue meters", default=None)


@contextmanager
def measuring(meters: QueueMeters) -> Iterator[None]:
    """Let the loops that this thread builds within the block report their queues to `meters`."""
    token = _meters.set(meters)
    try:
        yield
    finally:
        _meters.reset(token)


def meter_of(name: str, clock: Clock) -> QueueMeter[str] | None:
    """Return where a new queue reports; None where nothing is measured."""
    meters = _meters.get()
    return meters.meter(name, clock) if meters is not None else None
