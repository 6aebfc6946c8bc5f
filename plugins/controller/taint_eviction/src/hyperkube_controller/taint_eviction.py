"""taint-eviction: pods leave nodes with a NoExecute taint, at once or when they have tolerated it for long enough.

The node lifecycle controller sets such taints on nodes that are not ready, and people set their own; without this
controller they only keep new pods away.
Source: kubernetes ``pkg/controller/tainteviction/taint_eviction.go``, ``metrics/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.actions import Delete, delete
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import disruption_target, node_index, spec_of, status_of
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.kinds.taints import NO_EXECUTE, eviction_seconds
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.metric_families import Counter, Histogram
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    key_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.plugin import Plugin

WORKERS = 8
EVENT = "TaintManagerEviction"
_BY_NODE = "node"
_BUCKETS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60, 120, 180, 240)


def no_execute(node: Object | None) -> list[Object]:
    """Return the taints that evict pods from a node."""
    listed: list[Object] = ((node or {}).get("spec") or {}).get("taints") or []
    return [taint for taint in listed if taint.get("effect") == NO_EXECUTE]


def seconds_left(pod: Object, taints: Sequence[Object]) -> float | None:
    """Return how long the pod may stay under these taints: 0 for not at all, None for ever."""
    return eviction_seconds(taints, spec_of(pod).get("tolerations") or [])


@dataclass(frozen=True, slots=True)
class Deadline:
    """Since when a pod is to go, and until when it may stay; whether its deletion was refused, or accepted, already."""

    uid: str
    since: float
    end: float
    has_failed: bool = False
    is_evicted: bool = False


class TaintEviction(Plugin):
    """Evicts pods from nodes that are tainted for it."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop: its keys are of pods."""
        self._recorder = EventRecorder(self.client, self.context.clock, "taint-eviction-controller")
        self._scheduled: dict[str, Deadline] = {}
        self._deletions = Counter(
            "taint_eviction_controller_pod_deletions",
            "Total number of Pods deleted by TaintEvictionController since its start.",
        )
        self._late = Histogram(
            "taint_eviction_controller_pod_deletion_duration_seconds",
            "Latency, in seconds, between the time when a taint effect has been activated for the Pod and its deletion"
            " via TaintEvictionController.",
            _BUCKETS,
        )
        self._metrics = ControllerMetrics(self._deletions, self._late)
        self._metrics.register(self.context)
        self._nodes = self.informers.informer(NODES)
        self._pods = self.informers.informer(PODS)
        self._pods.add_index(_BY_NODE, node_index)
        self._loop = ReconcileLoop(
            self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger, workers=WORKERS
        )
        self._nodes.add_handler(self._enqueue_pods, self._node_updated)
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new), self._pod_gone)
        return self._loop

    def _enqueue_pods(self, node: Object) -> None:
        if no_execute(node):
            self._enqueue_all(node)

    def _node_updated(self, old: Object, new: Object) -> None:
        if no_execute(old) != no_execute(new):
            self._enqueue_all(new)

    def _enqueue_all(self, node: Object) -> None:
        for pod in self._pods.by_index(_BY_NODE, name_of(node)):
            self._loop.enqueue(pod)

    def _pod_seen(self, pod: Object) -> None:
        node = spec_of(pod).get("nodeName", "")
        if (self._scheduled and key_of(pod) in self._scheduled) or (node and no_execute(self._nodes.get("", node))):
            self._loop.enqueue(pod)

    def _pod_gone(self, pod: Object) -> None:
        # At once, not in the next sync: another pod of this name may be there by then.
        self._cancel(pod, key_of(pod))

    def _cancel(self, pod: Object, key: str) -> None:
        deadline = self._scheduled.pop(key, None)
        if deadline is not None and not deadline.is_evicted:
            self._recorder.event(pod, "Normal", EVENT, f"Cancelling deletion of Pod {key}")

    def _sync(self, key: str) -> float | None:
        pod = self._pods.get(*split_key(key))
        if pod is None or is_being_deleted(pod):
            return None
        taints = no_execute(self._nodes.get("", spec_of(pod).get("nodeName", "")))
        left = seconds_left(pod, taints) if taints else None
        if left is None:
            self._cancel(pod, key)
            return None
        now = self.context.clock.monotonic()
        deadline = _deadline(self._scheduled.get(key), uid_of(pod), left, now)
        if deadline.is_evicted:
            return None  # the watch is about to show it
        if now < deadline.end:
            self._scheduled[key] = deadline
            return deadline.end - now
        # Noted before the watch shows the deletion, which would pass for a cancellation.
        self._scheduled[key] = Deadline(deadline.uid, deadline.since, deadline.end, is_evicted=True)
        if not deadline.has_failed:
            self._recorder.event(pod, "Normal", EVENT, f"Marking for deletion Pod {key}")
        try:
            self._evict(pod)
        except Conflict:
            self._scheduled.pop(key, None)
            return None  # another pod has the name by now: the watch brings it
        except (ApiError, OSError):
            self._scheduled[key] = Deadline(deadline.uid, deadline.since, deadline.end, has_failed=True)
            raise
        self._metrics.add(self._deletions)
        self._metrics.observe(self._late, self.context.clock.monotonic() - deadline.end)
        return None

    def _evict(self, pod: Object) -> None:
        """Say why in the pod's status, which jobs and people read, and delete it."""
        target = disruption_target("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        conditions = with_condition(status_of(pod).get("conditions") or (), target, self.context.clock.now())
        patch = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": conditions}}
        try:
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except NotFound:
            return
        delete(self.client, Delete.of(PODS, pod))


def _deadline(before: Deadline | None, uid: str, left: float, now: float) -> Deadline:
    """Return until when a pod may stay that tolerates its taints for a time.

    What counts is when the first taint was seen. Another taint or toleration may bring the end nearer; none begins the
    time anew, nor puts the end off, unless it comes when a deletion was refused already.
    """
    if before is None or before.uid != uid or (before.has_failed and before.since + left > before.end):
        return Deadline(uid, now, now + left)
    return Deadline(
        uid,
        before.since,
        min(before.end, before.since + left),
        has_failed=before.has_failed,
        is_evicted=before.is_evicted,
    )
