"""Watches what the node is short of, reclaims what it can by itself, and then stops pods, one at a time.

Source: kubernetes ``pkg/kubelet/eviction/eviction_manager.go``.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from hyperkube_host.kubelet.eviction.decide import Memory, Round, decide, thresholds_met
from hyperkube_host.kubelet.eviction.local_storage import storage_violation
from hyperkube_host.kubelet.eviction.messages import (
    REASON,
    eviction_message,
    node_condition_message,
)
from hyperkube_host.kubelet.eviction.ranking import rank
from hyperkube_host.kubelet.eviction.usage import observations_of
from hyperkube_host.kubelet.qos.policy import is_critical
from hyperkube_host.kubelet.thresholds import (
    MEMORY_PRESSURE,
    RESOURCE_OF,
    Threshold,
    with_container_fs,
)
from hyperkube_host.kubelet.types.pod_status import TERMINATION_BY_KUBELET, Failure

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.kinds.pods import disruption_target
from hyperkube.kinds.qos import BEST_EFFORT, qos_class
from hyperkube.kinds.taints import tolerates
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record

PERIOD_SECONDS = 10.0
CLEANUP_SECONDS = 30.0
"""How long the next round waits for a pod that was stopped to be gone."""
LOCAL_STORAGE = "ephemeralpodfs.limit"
"""What stands for the signal of pods that had to go for their own limits."""
IMMEDIATE_GRACE_SECONDS = 1.0
_MEMORY_TAINT = {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}
_log = logging.getLogger("hyperkube.kubelet")


class EvictionOptions(Record):
    """The thresholds, how long a condition stays, and the longest grace of pods stopped by a soft threshold."""

    thresholds: tuple[Threshold, ...]
    transition_seconds: float = 300.0
    max_pod_grace_seconds: float = 0.0
    isolates_local_storage: bool = True


class EvictionServices(Record):
    """What the manager looks at and acts by.

    Attributes:
        summary: returns the summary, measured now.
        node_summary: returns the node's part of it, for its conditions alone.
        active_pods: returns the pods that run and are not being stopped.
        is_gone: tells of a pod's uid whether nothing of it runs any more.
        has_image_fs: tells whether images have a file system of their own.
        reclaim: signal → what frees something without stopping a pod, in order.
        evict: (pod, failure, condition, annotations of the event, grace seconds) stops a pod for good.
        node_event: (kind, reason, message) about the node.
    """

    summary: Callable[[], Object]
    node_summary: Callable[[], Object]
    active_pods: Callable[[], Sequence[Object]]
    is_gone: Callable[[str], bool]
    has_image_fs: Callable[[], bool]
    reclaim: Mapping[str, Sequence[Callable[[], object]]]
    evict: Callable[[Object, Failure, Object | None, Mapping[str, str], float], None]
    node_event: Callable[[str, str, str], None]


class EvictionManager:
    """`synchronize` is called again and again by one thread; the rest is thread-safe."""

    def __init__(self, options: EvictionOptions, services: EvictionServices, clock: Clock) -> None:
        self._options = options
        self._services = services
        self._clock = clock
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._conditions: frozenset[str] = frozenset()
        self._leaving: tuple[float, list[str]] = (0.0, [])
        self.evictions: Counter[str] = Counter()
        """Signal → pods that were evicted for it."""

    def conditions(self) -> frozenset[str]:
        """Return the conditions of the node that hold; before the first round they are measured."""
        with self._lock:
            if self._memory is None and self._options.thresholds:
                self._observe(self._services.node_summary(), self._services.has_image_fs())
            return self._conditions

    def _observe(self, summary: Object, has_image_fs: bool) -> tuple[Round, tuple[Threshold, ...]]:
        """Take a measurement in; the caller holds the lock."""
        thresholds = with_container_fs(self._options.thresholds, has_image_fs=has_image_fs)
        outcome = decide(
            thresholds,
            observations_of(summary),
            self._memory or Memory(),
            transition_seconds=self._options.transition_seconds,
            now=self._clock.monotonic(),
        )
        self._memory, self._conditions = outcome.memory, outcome.conditions
        return outcome, thresholds

    def admit(self, pod: Object) -> Failure | None:
        """Return why a pod may not start now, None when it may.

        A node that is short of memory only takes pods that say how much they need, or that put up with it.
        """
        conditions = self.conditions()
        if not conditions or is_critical(pod):
            return None
        if conditions == {MEMORY_PRESSURE}:
            tolerations = pod["spec"].get("tolerations") or ()
            if qos_class(pod) != BEST_EFFORT or any(tolerates(one, _MEMORY_TAINT) for one in tolerations):
                return None
        return Failure(REASON, node_condition_message(conditions))

    def synchronize(self) -> list[Object]:
        """Do one round; return the pods that were stopped."""
        options, services = self._options, self._services
        if (not options.thresholds and not options.isolates_local_storage) or self._is_waiting():
            return []
        try:
            summary = services.summary()
        except RuntimeFailed as error:
            _log.warning("eviction manager: failed to get summary stats: %s", error)
            return []
        has_image_fs = services.has_image_fs()
        with self._lock:
            outcome, thresholds = self._observe(summary, has_image_fs)
        stats = {row["podRef"]["uid"]: row for row in summary.get("pods") or ()}
        pods = list(services.active_pods())
        if options.isolates_local_storage:
            evicted = [pod for pod in pods if self._violates(pod, stats, has_image_fs=has_image_fs)]
            if evicted:
                return self._wait_for(evicted)
        return self._wait_for(self._reclaim(outcome, thresholds, pods, stats, has_image_fs=has_image_fs))

    def _is_waiting(self) -> bool:
        """Tell whether what was stopped in a round before is still ending: what it frees has yet to show."""
        deadline, uids = self._leaving
        return self._clock.monotonic() < deadline and not all(self._services.is_gone(uid) for uid in uids)

    def _wait_for(self, evicted: list[Object]) -> list[Object]:
        self._leaving = (self._clock.monotonic() + CLEANUP_SECONDS, [uid_of(pod) for pod in evicted])
        return evicted

    def _violates(self, pod: Object, stats: Mapping[str, Object], *, has_image_fs: bool) -> bool:
        """Stop a pod whose files take more than they may."""
        found = stats.get(uid_of(pod))
        text = "" if found is None else storage_violation(pod, found, has_image_fs=has_image_fs)
        return bool(text) and self._evict(pod, text, None, {}, IMMEDIATE_GRACE_SECONDS, LOCAL_STORAGE)

    def _reclaim(
        self,
        outcome: Round,
        thresholds: Sequence[Threshold],
        pods: Sequence[Object],
        stats: Mapping[str, Object],
        *,
        has_image_fs: bool,
    ) -> list[Object]:
        if not outcome.due:
            return []
        threshold = outcome.due[0]
        resource = RESOURCE_OF[threshold.signal]
        self._services.node_event("Warning", "EvictionThresholdMet", f"Attempting to reclaim {resource}")
        if self._reclaimed(threshold, thresholds):
            _log.info("eviction manager: able to reduce %s pressure without evicting pods", resource)
            return []
        grace = IMMEDIATE_GRACE_SECONDS if threshold.is_hard else self._options.max_pod_grace_seconds
        # At most one pod a round: what it frees shows in the next.
        for pod in rank(pods, stats, threshold.signal, has_image_fs=has_image_fs):
            message = eviction_message(resource, pod, stats.get(uid_of(pod)), outcome.due, outcome.memory.observations)
            condition = disruption_target(TERMINATION_BY_KUBELET, message.text)
            if self._evict(pod, message.text, condition, message.annotations, grace, threshold.signal):
                return [pod]
        _log.info("eviction manager: unable to evict any pods from the node")
        return []

    def _reclaimed(self, threshold: Threshold, thresholds: Sequence[Threshold]) -> bool:
        """Free what no pod needs; tell whether that was enough."""
        calls = self._services.reclaim.get(threshold.signal, ())
        for call in calls:
            try:
                call()
            except RuntimeFailed as error:
                _log.warning("eviction manager: cannot reduce pressure of %s: %s", threshold.signal, error)
        if not calls:
            return False
        try:
            observations = observations_of(self._services.summary())
        except RuntimeFailed:
            return False
        return not thresholds_met(thresholds, observations, with_reclaim=True)

    def _evict(
        self,
        pod: Object,
        text: str,
        condition: Object | None,
        annotations: Mapping[str, str],
        grace: float,
        signal: str,
    ) -> bool:
        if is_critical(pod):
            _log.warning("eviction manager: cannot evict critical pod %s", uid_of(pod))
            return False
        self._services.evict(pod, Failure(REASON, text), condition, annotations, grace)
        self.evictions[signal] += 1
        return True
