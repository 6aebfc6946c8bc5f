"""Keeps the last two points of each node and container, and tells what was used between them.

Source: metrics-server ``pkg/storage/{storage,node,pod,types}.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hyperkube_addon.metrics_server.decode import MetricsBatch, MetricsPoint, PodRef

FRESH_CONTAINER_SECONDS = 10.0
"""A container that started so long ago, and no longer than a scrape ago, is measured from its start."""


class Usage(NamedTuple):
    """What was used over a window that ended at a time: CPU in billionths of a core, memory in bytes."""

    timestamp: float
    window: float
    cpu_nanocores: int
    memory_bytes: int


def usage_between(last: MetricsPoint, previous: MetricsPoint) -> Usage | None:
    """Return what was used between two points, None when the counter was set back meanwhile."""
    window = last.timestamp - previous.timestamp
    if window <= 0 or last.cpu_seconds < previous.cpu_seconds or last.start > previous.timestamp:
        return None
    cpu = int((last.cpu_seconds - previous.cpu_seconds) / window * 1e9)
    return Usage(last.timestamp, window, cpu, last.memory_bytes)


def previous_point(
    new: MetricsPoint, last: MetricsPoint | None, before: MetricsPoint | None, resolution: float
) -> MetricsPoint | None:
    """Return the point that a new one is compared with.

    Args:
        new: what was measured now.
        last: what was measured before it.
        before: what that was compared with: it stays where `new` is the same measurement again.
        resolution: seconds between two scrapes.
    """
    if last is not None and last.start >= new.start - 1.0:
        return last if new.timestamp > last.timestamp else before
    age = new.timestamp - new.start
    if new.start and FRESH_CONTAINER_SECONDS <= age < resolution:
        return MetricsPoint(new.start, 0.0, 0, new.start)
    return None


class MetricsStorage:
    """The points of the last scrapes; thread-safe.

    What a scrape does not have any more is forgotten with it.
    """

    def __init__(self, resolution: float) -> None:
        self._resolution = resolution
        self._lock = threading.Lock()
        self._nodes: dict[str, MetricsPoint] = {}
        self._nodes_before: dict[str, MetricsPoint] = {}
        self._pods: dict[PodRef, dict[str, MetricsPoint]] = {}
        self._pods_before: dict[PodRef, dict[str, MetricsPoint]] = {}

    def store(self, batches: Iterable[MetricsBatch]) -> None:
        """Take the points of a scrape of all nodes."""
        whole = MetricsBatch()
        for batch in batches:
            whole.nodes |= batch.nodes
            whole.pods |= batch.pods
        with self._lock:
            self._nodes_before = self._compared(whole.nodes, self._nodes, self._nodes_before)
            self._nodes = whole.nodes
            self._pods_before = {
                ref: self._compared(new, self._pods.get(ref, {}), self._pods_before.get(ref, {}))
                for ref, new in whole.pods.items()
            }
            self._pods = whole.pods

    def _compared(
        self,
        new: Mapping[str, MetricsPoint],
        last: Mapping[str, MetricsPoint],
        before: Mapping[str, MetricsPoint],
    ) -> dict[str, MetricsPoint]:
        found = {
            name: previous_point(point, last.get(name), before.get(name), self._resolution)
            for name, point in new.items()
        }
        return {name: point for name, point in found.items() if point is not None}

    @property
    def is_ready(self) -> bool:
        """Whether two scrapes have told something of a node or a pod."""
        with self._lock:
            return bool(self._nodes_before or self._pods_before)

    def node_usage(self, name: str) -> Usage | None:
        """Return what a node uses, None where that is not known."""
        with self._lock:
            last, previous = self._nodes.get(name), self._nodes_before.get(name)
        return None if last is None or previous is None else usage_between(last, previous)

    def pod_usage(self, namespace: str, name: str) -> dict[str, Usage]:
        """Return what each container of a pod uses; nothing unless it is known of all of them."""
        ref = (namespace, name)
        with self._lock:
            last, before = self._pods.get(ref, {}), self._pods_before.get(ref, {})
        found: dict[str, Usage] = {}
        for container, point in last.items():
            usage = usage_between(point, before[container]) if container in before else None
            if usage is None:
                return {}
            found[container] = usage
        return found
