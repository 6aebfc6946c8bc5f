"""The scheduler: watches nodes and pods, decides for one pod at a time, binds in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from random import Random

from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import ApiDispatcher
from hyperkube_host.scheduler.binding.bind_rate import BindPodsRateLimiter
from hyperkube_host.scheduler.binding.binder import Binder
from hyperkube_host.scheduler.cache.assigned_pods import AssignedPodTransform
from hyperkube_host.scheduler.cache.cache import EXPIRY_SECONDS, SchedulerCache
from hyperkube_host.scheduler.config.configuration import to_object
from hyperkube_host.scheduler.config.sources import Source
from hyperkube_host.scheduler.event_handlers import EventHandlers
from hyperkube_host.scheduler.explain.explanation_file import ExplanationFile
from hyperkube_host.scheduler.explain.explanations import Explanations
from hyperkube_host.scheduler.gauges import offer_gauges
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import TimedQueueingHint
from hyperkube_host.scheduler.options import SchedulerOptions
from hyperkube_host.scheduler.podgroup.cycle import GATES, PodGroupCycle
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Profiles
from hyperkube_host.scheduler.queue.cluster_events import POD_DELETED
from hyperkube_host.scheduler.queue.scheduling_queue import (
    QueuedPodInfo,
    QueueState,
    SchedulingQueue,
)
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_one import ScheduleOne
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler
from hyperkube_lib.component_base.informer_pauses import pauses
from hyperkube_lib.leader_election import LeaderElector, make_identity

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.scheduling import PodInfo
from hyperkube.kinds.resources import NODES, POD_GROUPS, PODS
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import (
    NodeName,
    Object,
    name_of,
    namespace_of,
    uid_of,
)

_log = logging.getLogger("hyperkube.scheduler")
RELOAD_SECONDS = 1.0
EVENT_WRITERS = 16
"""Events on their way at once at the most: twenty pods a second are told of to a server that takes half a second."""

PAUSE = {PODS: 0.03, NODES: 0.1}
"""For how many seconds after events of a resource others gather: what the API server tells of a pod that starts comes
in pieces, and each reading costs more than an event. What comes after a rest is read at once."""


class Scheduler:
    """kube-scheduler with one or several profiles."""

    def __init__(
        self,
        *,
        client: Client,
        options: SchedulerOptions,
        clock: Clock | None = None,
        on_lost: Callable[[], None] | None = None,
        random: Callable[[], Random] = Random,
    ) -> None:
        """Read the configuration; nothing is watched before `start`.

        Args:
            client: the API, as ``system:kube-scheduler``.
            options: the scheduler's options.
            clock: the cluster's time.
            on_lost: called when leadership was lost: the process should end.
            random: makes what decides between nodes that score alike, one per profile.

        Raises:
            UsageError: an unknown provider, a plugin that is not installed, or a configuration that is wrong.
        """
        self._clock = clock or SystemClock()
        self._client, self._options, self._on_lost = client, options, on_lost
        name = options.configuration.scheduler_name or DEFAULT_NAME
        self._recorder = EventRecorder(client, self._clock, name, writers=EVENT_WRITERS)
        self._informers = InformerFactory(
            client, self._clock, projections={PODS: AssignedPodTransform()}, pause_of=pauses(client, PAUSE)
        )
        self._source = Source(options.configuration, client)
        self.metrics = SchedulerMetrics(self._clock)
        self._profiles = Profiles(
            self._source.read(),
            client,
            self._informers,
            self._clock,
            options.values,
            self.wake,
            self,
            self.metrics,
            random,
        )
        if self._source.files:
            self._profiles.loaded()  # what a file says wrong should be known before anything runs
        parts = self._parts = self._make_parts()
        self._queue, self._cache, self._binder = parts.queue, parts.cache, parts.binder
        self.explanations = parts.explanations
        pod_scheduler = PodScheduler(parts.cache, parts.metrics)
        self._schedule_one = ScheduleOne(parts, pod_scheduler)
        groups = self._informers.informer(POD_GROUPS) if any(parts.gates.get(name) for name in GATES) else None
        self._pod_group_cycle = PodGroupCycle(parts, self._schedule_one, pod_scheduler, groups)
        reject = self._binder.reject
        self._event_handlers = EventHandlers(parts.cache, parts.queue, self._profiles, parts.metrics, reject)
        self._elector: LeaderElector | None = None
        self._closing = threading.Event()
        self._has_work = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
        self._synced = False
        self._takes_in = False
        offer_gauges(parts.metrics, parts.queue, parts.cache, parts.binder)

    def _make_parts(self) -> SchedulerParts:
        options, clock, profiles = self._options, self._clock, self._profiles
        queue = SchedulingQueue(
            clock,
            profiles.sort_key,
            profiles.gate,
            TimedQueueingHint(profiles.queueing_hint, self.metrics),
            first_backoff=profiles.configuration.first_backoff_seconds,
            max_backoff=profiles.configuration.max_backoff_seconds,
            unschedulable_seconds=options.unschedulable_seconds,
            incoming=self.metrics.incoming,
        )
        file = ExplanationFile(options.explanations_file) if options.explanations_file is not None else None
        api_dispatcher = ApiDispatcher(self._client, clock, self._recorder, queue.has_active, queue.holds)
        return SchedulerParts(
            client=self._client,
            clock=clock,
            gates=options.gates,
            cache=SchedulerCache(),
            queue=queue,
            binder=Binder(
                clock,
                self.metrics,
                BindPodsRateLimiter(clock, options.bind_qps, options.bind_burst),
                self._is_stored,
                api_dispatcher.settle,
                queue.holds,
            ),
            api_dispatcher=api_dispatcher,
            explanations=Explanations(file=file, busy=queue.has_active),
            metrics=self.metrics,
        )

    def start(self) -> None:
        """Start watching, and scheduling once elected; returns at once."""
        if self._options.election is None:
            self._thread.start()
            return
        self._elector = LeaderElector(
            self._client,
            self._clock,
            self._options.election,
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
        """Return by its lock's name whether this process leads; empty without leader election."""
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
        self._has_work.set()
        if self._elector is not None:
            self._elector.stop()
        self._queue.close()
        self._informers.stop()
        if self._thread.is_alive():
            self._thread.join(5.0)
        self._schedule_one.close()
        self._binder.close()
        self._parts.api_dispatcher.close()
        self.explanations.close()
        self._profiles.close()

    def pending(self) -> dict[QueueState, int]:
        """Return how many pods are in each part of the queue, as `SchedulingQueue.pending` does."""
        return self._queue.pending()

    def handles(self, pod: Object) -> bool:
        """Tell whether a profile has the pod's scheduler name."""
        return self._profiles.handles(pod)

    def has_seen(self, versions: Mapping[GroupVersionResource, int]) -> bool:
        """Tell whether everything that is watched was taken in up to these versions."""
        if self._has_work.is_set() and not self._takes_in:
            return False
        return all(
            int(informer.resource_version or 0) >= versions.get(informer.resource, 0)
            for informer in self._informers.all()
        )

    def explain(self, key: str) -> Object | None:
        """Return the latest decision on a pod, ``namespace/name``, as plain data; None if none is known."""
        return self.explanations.explain(key)

    def wake(self, change: str) -> None:
        """Try pods again which a change of that kind may help; plugins tell their own kinds through this."""
        self._queue.move_all(change)

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
        if not self._source.files:
            self._rest_without_pods()
        if not self._closing.is_set():
            self._profiles.loaded()
            self._event_handlers.watch(self._informers)
            self._informers.start()
            self._informers.wait_synced()
            self._synced = self._takes_in = True
            self._clock.call_later(EXPIRY_SECONDS, self._expire)
            if self._source.files:
                self._clock.call_later(RELOAD_SECONDS, self._reload)
        while (queued := self._queue.pop()) is not None:
            started = self._clock.monotonic()
            try:
                self._schedule(queued)
            except Exception:  # noqa: BLE001  one pod must not end the scheduling; it is logged and tried again
                _log.exception("scheduling %s failed", queued.key)
                self._schedule_one.failed_with_a_bug(queued, started)

    def _rest_without_pods(self) -> None:
        """Wait for the first pod without a node: plugins, and numpy with them, are 10 MiB that an empty cluster spares.

        Nothing but pods is watched until then. The plugins are loaded after that on the scheduler's own thread, and see
        their informers filled before the first decision.
        """
        pods = self._informers.informer(PODS)
        pods.add_handler(on_add=self._notice, on_update=lambda _old, pod: self._notice(pod))
        pods.start()
        pods.when_synced(self._note_synced)
        self._has_work.wait()

    def _notice(self, pod: Object) -> None:
        if not pod.get("spec", {}).get("nodeName"):
            self._has_work.set()

    def _note_synced(self) -> None:
        self._synced = True

    def _schedule(self, queued: QueuedPodInfo) -> None:
        profile = self._profiles.of(queued.pod)
        if profile is not None and self._pod_group_cycle.takes(queued):
            self._pod_group_cycle.schedule(profile, queued)
        elif profile is not None:
            self._schedule_one.schedule(profile, queued)

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
                self._queue.recheck_gated()
                self._queue.move_all()
        self._clock.call_later(RELOAD_SECONDS, self._reload)

    def _expire(self) -> None:
        """Count pods no longer whose bindings the API took and never spoke of."""
        if self._closing.is_set():
            return
        for key in self._cache.cleanup_assumed(self._clock.monotonic()):
            _log.warning("pod %s: no news of its binding for %g s; it is not counted any more", key, EXPIRY_SECONDS)
            self._queue.move_all(POD_DELETED)
        self._clock.call_later(EXPIRY_SECONDS, self._expire)

    def _is_stored(self, info: PodInfo, node: NodeName) -> bool:
        try:
            found = self._client.get(PODS, name_of(info.pod), namespace_of(info.pod))
        except NotFound:
            return False
        return uid_of(found) == uid_of(info.pod) and found.get("spec", {}).get("nodeName") == node


_CONFIGURATION: Object = {
    "kind": "KubeSchedulerConfiguration",
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "namespace": "kube-system",
    "name": "kube-scheduler",
    "uid": "kube-scheduler",
}
