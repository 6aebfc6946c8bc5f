"""The scheduler: watches nodes and pods, decides for one pod at a time, binds in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import Reports
from hyperkube_host.scheduler.binding.bind_rate import BindRate
from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import EXPIRY_SECONDS, ClusterState
from hyperkube_host.scheduler.cache.placed_pods import PlacedPods
from hyperkube_host.scheduler.config.configuration import to_object
from hyperkube_host.scheduler.config.sources import Source, source_of
from hyperkube_host.scheduler.event_handlers import ClusterNews
from hyperkube_host.scheduler.explain.explanation_file import ExplanationFile
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.gauges import offer_gauges
from hyperkube_host.scheduler.metrics.metrics import ERROR, SCHEDULED, UNSCHEDULABLE, SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import HintTimes
from hyperkube_host.scheduler.podgroup.cycle import GATES, GroupCycle
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Profiles, Running
from hyperkube_host.scheduler.queue.scheduling_queue import UNSCHEDULABLE_SECONDS, SchedulingQueue, Ticket
from hyperkube_host.scheduler.schedule_one.schedule_pod import Chooser
from hyperkube_lib.leader_election import LeaderElector, election_options, make_identity

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.scheduling import PodInfo
from hyperkube.kinds.resources import POD_GROUPS, PODS
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import (
    NodeName,
    Object,
    key_of,
    name_of,
    namespace_of,
    uid_of,
)

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import QueuedPod, Templates
    from hyperkube_host.scheduler.framework.schedule_result import Decision

_log = logging.getLogger("hyperkube.scheduler")
RELOAD_SECONDS = 1.0


class Scheduler:
    """kube-scheduler with one or several profiles."""

    def __init__(
        self,
        *,
        client: Client,
        options: Mapping[str, Any],
        clock: Clock | None = None,
        on_lost: Callable[[], None] | None = None,
        random: Callable[[], Random] = Random,
    ) -> None:
        """Read the configuration; nothing is watched before `start`.

        Args:
            client: the API, as ``system:kube-scheduler``.
            options: the scheduler's flags by name.
            clock: the cluster's time.
            on_lost: called when leadership was lost: the process should end.
            random: makes what decides between nodes that score alike, one per profile.

        Raises:
            UsageError: an unknown provider, a plugin that is not installed, or a configuration that is wrong.
        """
        self._clock = clock or SystemClock()
        self._client = client
        self._options = options
        self._on_lost = on_lost
        self._recorder = EventRecorder(client, self._clock, str(options.get("scheduler-name") or "default-scheduler"))
        self._informers = InformerFactory(client, self._clock, projections={PODS: PlacedPods()})
        self._source: Source = source_of(options, client)
        self.metrics = SchedulerMetrics(self._clock)
        self._profiles = Profiles(
            self._source.read(), client, self._informers, self._clock, options, self.wake, self, self.metrics, random
        )
        if self._source.files:
            self._profiles.running()  # what a file says wrong should be known before anything runs
        settings = self._profiles.configuration
        self._queue = SchedulingQueue(
            self._clock,
            self._profiles.sort_key,
            self._profiles.gate,
            HintTimes(self._profiles.wakes, self.metrics),
            first_backoff=settings.first_backoff_seconds,
            max_backoff=settings.max_backoff_seconds,
            unschedulable_seconds=float(options.get("pod-max-in-unschedulable-pods-duration") or UNSCHEDULABLE_SECONDS),
            incoming=self.metrics.incoming,
        )
        self._state = ClusterState()
        self._binder = Binder(self._clock, self.metrics, BindRate.of(options, self._clock), self._is_stored)
        self._chooser = Chooser(self._state, self.metrics)
        self._news = ClusterNews(self._state, self._queue, self._profiles, self.metrics)
        self._reports = Reports(client, self._clock, self._recorder, self._queue.has_active)
        self._templates: Templates | None = None
        self._elector: LeaderElector | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._synced = False
        path = str(options.get("explanations-file") or "")
        kept = ExplanationFile(Path(path)) if path else None
        self.explanations = Explanations(file=kept, busy=self._queue.has_active)
        gates = options.get("feature-gates") or {}
        self._group_cycle = GroupCycle(
            self, client=client, clock=self._clock, gates=gates,
            groups=self._informers.informer(POD_GROUPS) if any(gates.get(name) for name in GATES) else None,
            state=self._state, queue=self._queue, chooser=self._chooser, binder=self._binder, reports=self._reports,
            metrics=self.metrics, explanations=self.explanations,
        )  # fmt: skip
        offer_gauges(self.metrics, self._queue, self._state, self._binder)

    def start(self) -> None:
        """Start watching, and scheduling once elected; returns at once."""
        if not self._options.get("leader-elect"):
            self._thread.start()
            return
        self._elector = LeaderElector(
            self._client,
            self._clock,
            election_options(self._options, "kube-scheduler"),
            identity=make_identity(),
            on_started=self._thread.start,
            on_stopped=self._stepped_down,
            recorder=self._recorder,
        )
        self._elector.start()

    def ready(self) -> bool:
        """Tell whether the caches are filled and the loop runs."""
        return self._synced

    def configuration(self) -> Object:
        """Return the KubeSchedulerConfiguration in use, for ``/configz``."""
        return to_object(self._profiles.configuration)

    def pods(self) -> Sequence[Object]:
        """Return all pods that are known, shared and read-only; none before the caches are filled."""
        return self._informers.informer(PODS).list() if self._synced else ()

    def leads(self) -> Mapping[str, bool]:
        """Return by its lock's name whether this process leads; empty where nobody is elected."""
        return {} if self._elector is None else {self._elector.lock: self._elector.is_leader}

    def election_failure(self) -> str:
        """Return why this process should be restarted as leader, or the empty string."""
        return self._elector.overdue() if self._elector is not None else ""

    def sync_failure(self) -> str:
        """Return why this process is not ready, or the empty string; one that waits to be elected is."""
        waits = self._elector is not None and not self._elector.is_leader
        return "" if self._synced or waits else "handlers are not fully synchronized"

    def close_failure(self) -> str:
        """Return that this process is about to end, or the empty string."""
        return "process is shutting down" if self._closing.is_set() else ""

    def close(self) -> None:
        """Stop deciding, finish the bindings under way."""
        self._closing.set()
        if self._elector is not None:
            self._elector.stop()
        self._queue.close()
        self._informers.stop()
        if self._thread.is_alive():
            self._thread.join(5.0)
        self._binder.close()
        self._reports.close()
        self.explanations.close()
        self._profiles.close()

    def pending(self) -> dict[str, int]:
        """Return how many pods are in each part of the queue, as `SchedulingQueue.pending` does."""
        return self._queue.pending()

    def handles(self, pod: Object) -> bool:
        """Tell whether a profile has the pod's scheduler name."""
        return self._profiles.handles(pod)

    def has_seen(self, versions: Mapping[GroupVersionResource, int]) -> bool:
        """Tell whether everything that is watched was taken in up to these versions."""
        return all(
            int(informer.resource_version or 0) >= versions.get(informer.resource, 0)
            for informer in self._informers.all()
        )

    def explain(self, key: str) -> Object | None:
        """Return the latest decision on a pod, ``namespace/name``, as plain data; None if none is known."""
        return self.explanations.explain(key)

    def wake(self, change: str) -> None:
        """Try pods again which a change of that kind may help; plugins tell their own kinds through this."""
        self._queue.move(change)

    def allow(self, key: str) -> None:
        """Let a pod be bound that a permit plugin made wait."""
        self._binder.allow(key)

    def reject(self, key: str, reason: str) -> bool:
        """Refuse a pod that a permit plugin made wait; tell whether it did."""
        return self._binder.reject(key, reason)

    def activate(self, key: str) -> None:
        """Try a pod now that waits for a change or its back-off."""
        self._queue.activate(key)

    def _stepped_down(self) -> None:
        """Decide nothing more: another process leads now."""
        self._queue.close()
        if self._on_lost is not None and not self._closing.is_set():
            self._on_lost()

    def _run(self) -> None:
        self._profiles.running()
        self._news.watch(self._informers)
        if not self._closing.is_set():
            self._informers.start()
            self._informers.wait_synced()
            self._synced = True
            self._clock.call_later(EXPIRY_SECONDS, self._expire)
            if self._source.files:
                self._clock.call_later(RELOAD_SECONDS, self._reload)
        while (ticket := self._queue.get()) is not None:
            started = self._clock.monotonic()
            try:
                self._schedule(ticket)
            except Exception:  # noqa: BLE001  one pod must not end the scheduling; it is logged and tried again
                _log.exception("scheduling %s failed", ticket.key)
                self.attempted(ticket, ERROR, started)
                self._state.forget(ticket.pod)
                self._queue.put_back(ticket, error=True)

    def _reload(self) -> None:
        """Look whether the configuration's files changed; a bad one leaves everything as it was."""
        if self._closing.is_set():
            return
        changed = self._source.changed()
        if changed:
            try:
                self._profiles.replace(self._source.read())
            except Exception as error:  # noqa: BLE001  whatever is wrong with a file, scheduling goes on; it is told
                _log.warning("the configuration was not reloaded: %s", error)
                self._recorder.event(_CONFIGURATION, "Warning", "ConfigurationRejected", str(error))
            else:
                _log.info("the configuration was reloaded")
                self._recorder.event(_CONFIGURATION, "Normal", "ConfigurationReloaded", "read again after a change")
                self._queue.regate()
                self._queue.move()
        self._clock.call_later(RELOAD_SECONDS, self._reload)

    def _expire(self) -> None:
        """Count pods no longer whose bindings the API took and never spoke of."""
        if self._closing.is_set():
            return
        for key in self._state.expire(self._clock.monotonic()):
            _log.warning("pod %s: no news of its binding for %g s; it is not counted any more", key, EXPIRY_SECONDS)
            self._queue.move("pod gone")
        self._clock.call_later(EXPIRY_SECONDS, self._expire)

    def _schedule(self, ticket: Ticket) -> None:
        running = self._profiles.of(ticket.pod)
        if running is not None and self._group_cycle.takes(ticket):
            self._group_cycle.schedule(running, ticket)
            return
        started = self._clock.monotonic()
        with self._state.table().lock:
            if running is None or not self._queue.holds(ticket):
                return
            info = self.prepare(ticket)
            decision = self._chooser.decide(running, info)
            self.metrics.decided(self._clock.monotonic() - started)
            if decision.node is not None:
                self._state.assume(info, decision.node)
        self.explanations.record(info.key, decision)
        if decision.node is None:
            self._unschedulable(running, info, decision, ticket)
            self.explanations.keep(info.key, decision)
            self.attempted(ticket, UNSCHEDULABLE, started)
            return
        self.explanations.keep(info.key, decision)
        node = decision.node
        try:
            self._binder.submit(running.profile, info, node, lambda error: self.finished(ticket, node, error, started))
        except NotBound as refusal:
            self._failed(ticket, refusal, started)

    def prepare(self, ticket: Ticket) -> QueuedPod:
        """Make a pod ready to be decided about; the table's lock is held."""
        from hyperkube_host.scheduler.cache.pod_info import QueuedPod, Templates

        if self._templates is None:
            self._templates = Templates()
        return QueuedPod.of(ticket.pod, self._state.table(), self._templates)

    def finished(self, ticket: Ticket, node: NodeName, error: NotBound | None, started: float) -> None:
        """Take note of what came of a binding; called on a binder's thread."""
        if error is None:
            self._state.confirm(ticket.pod, self._clock.monotonic())
            self._queue.done(ticket)
            self._reports.bound(ticket.pod, node)
            self.attempted(ticket, SCHEDULED, started)
            waited = self._clock.monotonic() - ticket.queued_at
            self.metrics.bound(ticket.attempts, waited, flushed=ticket.flushed)
        else:
            self._failed(ticket, error, started)

    def _is_stored(self, info: PodInfo, node: NodeName) -> bool:
        try:
            found = self._client.get(PODS, name_of(info.pod), namespace_of(info.pod))
        except NotFound:
            return False
        return uid_of(found) == uid_of(info.pod) and found.get("spec", {}).get("nodeName") == node

    def attempted(self, ticket: Ticket, result: str, started: float) -> None:
        """Take note of an attempt that ended so."""
        profile = str(ticket.pod.get("spec", {}).get("schedulerName") or DEFAULT_NAME)
        self.metrics.attempt(result, profile, self._clock.monotonic() - started)

    def _failed(self, ticket: Ticket, error: NotBound, started: float) -> None:
        self.attempted(ticket, UNSCHEDULABLE if error.rejected else ERROR, started)
        wanted = self._queue.holds(ticket)
        self._state.forget(ticket.pod)
        self._queue.put_back(ticket, refused_by=[error.plugin] if error.plugin else (), error=not error.rejected)
        self._queue.move("pod gone")
        if wanted:
            reason = "Unschedulable" if error.rejected else "SchedulerError"
            self._reports.refused(ticket.pod, reason, str(error))

    def _unschedulable(self, running: Running, info: QueuedPod, decision: Decision, ticket: Ticket) -> None:
        refused_by = tuple(decision.refused)
        nomination = self._chooser.make_room(running, info, decision)
        message = decision.close(nomination.message)
        if nomination.node is not None:
            self.nominate(info, nomination.node)
        elif not nomination.keeps:
            self._state.unnominate(info.key)
        self._queue.put_back(ticket, refused_by=refused_by)
        nominated = nomination.node if nomination.node or nomination.keeps else NodeName("")
        self._reports.refused(info.pod, "Unschedulable", message, nominated)

    def nominate(self, info: PodInfo, node: NodeName) -> None:
        """Take note that room is being made for a pod: those that matter less make theirs elsewhere."""
        self._state.nominate(info.pod, node, info.priority)
        for other in self._state.outrank(info.key, node, info.priority):
            self._reports.unnominated(other.pod, other.node)
            self._queue.activate(key_of(other.pod))


_CONFIGURATION: Object = {
    "kind": "KubeSchedulerConfiguration",
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "namespace": "kube-system",
    "name": "kube-scheduler",
    "uid": "kube-scheduler",
}
