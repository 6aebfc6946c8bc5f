"""What the scheduler's parts tell of themselves whenever the metrics are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_host.scheduler.queue.scheduling_queue import QueueState

if TYPE_CHECKING:
    from hyperkube_host.scheduler.binding.binder import Binder
    from hyperkube_host.scheduler.cache.cache import SchedulerCache
    from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
    from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue

    from hyperkube.machinery.metric_families import Labels

QUEUES = (QueueState.ACTIVE, QueueState.BACKOFF, QueueState.UNSCHEDULABLE, QueueState.GATED)


def offer_gauges(
    metrics: SchedulerMetrics, queue: SchedulingQueue, cache: SchedulerCache, binder: Binder | None = None
) -> None:
    """Offer what the queue, the cluster's cache and the binder know."""

    def pending() -> dict[Labels, float]:
        counts = queue.pending()
        return {(name,): counts[name] for name in QUEUES}

    def unschedulable_pods() -> dict[Labels, float]:
        return {labels: count for labels, count in queue.unschedulable_by_plugin().items()}  # noqa: C416  the values' type is wider

    def sizes() -> dict[Labels, float]:
        return {(name,): count for name, count in cache.sizes().items()}

    def in_flight() -> dict[Labels, float]:
        return {(event,): count for event, count in queue.in_flight_events().items()}

    def working() -> dict[Labels, float]:
        return {("binding",): 0 if binder is None else binder.under_way()}

    metrics.gauge("pending_pods", "Pods that are not placed yet, by queue.", ("queue",), pending)
    metrics.gauge(
        "unschedulable_pods",
        "Unschedulable pods by each plugin that refused nodes.",
        ("plugin", "profile"),
        unschedulable_pods,
    )
    metrics.gauge("cache_size", "What the scheduler knows, by kind.", ("type",), sizes)
    metrics.gauge("inflight_events", "Events remembered for the pods that are being scheduled.", ("event",), in_flight)
    metrics.gauge("goroutines", "Work that goes on beside the loop, by kind.", ("operation",), working)
