"""What the scheduling cycles of pods and of pod groups work with."""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import ApiDispatcher
from hyperkube_host.scheduler.binding.binder import Binder
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record


class SchedulerParts(Record):
    """The parts of one scheduler.

    Attributes:
        client: the API, as ``system:kube-scheduler``.
        clock: the cluster's time.
        gates: feature gate → on or off.
        cache: nodes and placed pods.
        queue: pods to be scheduled.
        binder: reserves, and binds in the background.
        api_dispatcher: writes events and conditions in the background.
        explanations: the latest results, for explanations.
        metrics: what is counted.
    """

    client: Client
    clock: Clock
    gates: Mapping[str, bool]
    cache: SchedulerCache
    queue: SchedulingQueue
    binder: Binder
    api_dispatcher: ApiDispatcher
    explanations: Explanations
    metrics: SchedulerMetrics
