"""One pod after another: schedule it, assume it on its node, bind it in the background; or preempt, and put it back.

The order of the steps is what keeps the scheduler from giving room away twice. A pod is assumed under the table's lock,
in the same hold of it in which the node was chosen, so that the next cycle counts it. Whatever fails afterwards, on
whichever thread, ends in `_failed`: the assumption is taken back first, then the pod returns to the queue, then the
others are moved that wait for room; a pod that is moved before the room is free would be tried in vain.

A pod for which others are deleted is nominated at once, so that the next cycle leaves it its room, and is in flight
until all of them were asked to go: it would ask for more of them if it were tried before.

Source: kubernetes ``pkg/scheduler/schedule_one.go``, ``pkg/scheduler/framework/preemption/executor.go``.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.binding.binder import NotBound
from hyperkube_host.scheduler.cache.pod_info import PreparedPod, Templates
from hyperkube_host.scheduler.metrics.metrics import ERROR, SCHEDULED, UNSCHEDULABLE
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Profile
from hyperkube_host.scheduler.queue.cluster_events import POD_DELETED
from hyperkube_host.scheduler.queue.scheduling_queue import QueuedPodInfo
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler
from hyperkube_lib.scheduling.preparation import Preparation
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.hookspecs.scheduling import PodInfo, PostFilterResult
from hyperkube.machinery.objects import NodeName, key_of

if TYPE_CHECKING:
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

PREEMPTIONS = 16
"""Pods for which others are being deleted at once: upstream has a goroutine for each, and 16 calls at once for all."""

_log = logging.getLogger("hyperkube.scheduler")


class ScheduleOne:
    """The scheduling cycle of one pod; `schedule` is for the scheduler's own thread."""

    def __init__(self, parts: SchedulerParts, pod_scheduler: PodScheduler) -> None:
        self._clock = parts.clock
        self._cache = parts.cache
        self._queue = parts.queue
        self._binder = parts.binder
        self._api_dispatcher = parts.api_dispatcher
        self._explanations = parts.explanations
        self._metrics = parts.metrics
        self._pod_scheduler = pod_scheduler
        self._templates = Templates()
        self._preemptions = WorkerPool(PREEMPTIONS, queue=sys.maxsize, name="preemption", logger=_log)

    def close(self) -> None:
        """Make room for no more pods; waits for none for which it is being made."""
        self._preemptions.close()

    def schedule(self, profile: Profile, queued: QueuedPodInfo) -> None:
        """Schedule a pod, unless it is gone meanwhile."""
        started = self._clock.monotonic()
        with self._cache.table().lock:
            if not self._queue.is_current(queued):
                return
            info = self.prepare(queued)
            result = self._pod_scheduler.schedule_pod(profile, info)
            self._metrics.decided(self._clock.monotonic() - started)
            if result.node is not None:
                self._cache.assume(info, result.node)
        self._explanations.record(info.key, result)
        if result.node is None:
            self._unschedulable(profile, info, result, queued)
            self._explanations.persist(info.key, result)
            self.attempted(queued, UNSCHEDULABLE, started)
            return
        self._explanations.persist(info.key, result)
        node = result.node

        def finished(error: NotBound | None) -> None:
            self.binding_finished(queued, node, error, started)

        try:
            self._binder.submit(profile.framework, info, node, finished)
        except NotBound as error:
            self._failed(queued, error, started)

    def failed_with_a_bug(self, queued: QueuedPodInfo, started: float) -> None:
        """Put a pod back whose cycle, begun then, ended with an exception, as if nothing had been decided."""
        self.attempted(queued, ERROR, started)
        self._cache.forget(queued.pod)
        self._queue.add_unschedulable(queued, error=True)

    def prepare(self, queued: QueuedPodInfo) -> PreparedPod:
        """Make a pod ready to be scheduled; the table's lock is held."""
        return PreparedPod.of(queued.pod, self._cache.table(), self._templates)

    def binding_finished(self, queued: QueuedPodInfo, node: NodeName, error: NotBound | None, started: float) -> None:
        """Take note of what came of a binding; called on a binder's thread."""
        if error is not None:
            self._failed(queued, error, started)
            return
        self._cache.finish_binding(queued.pod, self._clock.monotonic())
        self._queue.done(queued)
        self._api_dispatcher.record_scheduled(queued.pod, node)
        self.attempted(queued, SCHEDULED, started)
        waited = self._clock.monotonic() - queued.queued_at
        self._metrics.bound(queued.attempts, waited, flushed=queued.flushed)

    def attempted(self, queued: QueuedPodInfo, result: str, started: float) -> None:
        """Count an attempt that ended so."""
        profile = str(queued.pod.get("spec", {}).get("schedulerName") or DEFAULT_NAME)
        self._metrics.attempt(result, profile, self._clock.monotonic() - started)

    def nominate(self, info: PodInfo, node: NodeName) -> None:
        """Take note that a node is being cleared for a pod, and clear the nominations of less important ones there.

        Those are scheduled again at once, because what was preempted for them is not theirs any more.
        """
        self._cache.nominate(info.pod, node, info.priority)
        for other in self._cache.remove_lower_nominations(info.key, node, info.priority):
            self._api_dispatcher.clear_nomination(other.pod, other.node)
            self._queue.activate(key_of(other.pod))

    def _failed(self, queued: QueuedPodInfo, error: NotBound, started: float) -> None:
        self.attempted(queued, UNSCHEDULABLE if error.rejected else ERROR, started)
        is_current = self._queue.is_current(queued)
        self._cache.forget(queued.pod)
        if is_current and not error.gone:  # before the pod returns to the queue, whence it may be bound at once
            reason = "Unschedulable" if error.rejected else "SchedulerError"
            self._api_dispatcher.record_failure(queued.pod, reason, str(error))
        plugins = [error.plugin] if error.plugin else ()
        self._queue.add_unschedulable(queued, unschedulable_plugins=plugins, error=not error.rejected)
        self._queue.move_all(POD_DELETED)

    def _unschedulable(
        self, profile: Profile, info: PreparedPod, result: ScheduleResult, queued: QueuedPodInfo
    ) -> None:
        unschedulable_plugins = tuple(result.rejected)
        nomination = self._pod_scheduler.ask_post_filters(profile, info, result)
        if isinstance(nomination, Preparation):
            self._preempt(info, queued, nomination, unschedulable_plugins, result.close(nomination.expected.message))
            return
        message = result.close(nomination.message)
        if nomination.node is not None:
            self.nominate(info, nomination.node)
        elif not nomination.noop:
            self._cache.unnominate(info.key)
        # Nominated before it is in the queue: an event may have it tried at once, on the node that is its own now.
        self._queue.add_unschedulable(queued, unschedulable_plugins=unschedulable_plugins)
        nominated = nomination.node if nomination.node or nomination.noop else NodeName("")
        self._api_dispatcher.record_failure(info.pod, "Unschedulable", message, nominated)

    def _preempt(
        self, info: PreparedPod, queued: QueuedPodInfo, preparation: Preparation, plugins: Sequence[str], message: str
    ) -> None:
        """Nominate a pod, and have room made for it beside the scheduling of others."""
        if preparation.expected.node is not None:
            self.nominate(info, preparation.expected.node)
        self._preemptions.submit(partial(self._make_room, info, queued, preparation, plugins, message))

    def _make_room(
        self, info: PreparedPod, queued: QueuedPodInfo, preparation: Preparation, plugins: Sequence[str], message: str
    ) -> None:
        """Make room for a pod and put it back; where that fails it is tried again after its back-off."""
        try:
            nomination = self._pod_scheduler.execute(preparation)
        except Exception:  # noqa: BLE001  a plugin's bug fails one attempt; it is logged
            _log.exception("making room for %s failed", info.key)
            nomination = PostFilterResult(None, "preemption: internal error", noop=True)
        if nomination.node is None:
            self._cache.unnominate(info.key)
        self._queue.add_unschedulable(queued, unschedulable_plugins=plugins, error=nomination.node is None)
        told = f"{message} {nomination.message}".rstrip() if nomination.node is None else message
        self._api_dispatcher.record_failure(info.pod, "Unschedulable", told, nomination.node)
