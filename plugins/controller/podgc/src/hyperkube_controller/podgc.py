"""podgc: deletes pods that no kubelet will ever finish.

Those are pods whose node is gone, pods that are being deleted and were never on a node, pods that wait for a node
which is out of service, and, beyond a number, the oldest of those that have ended.
Source: kubernetes ``pkg/controller/podgc/gc_controller.go``, ``metrics/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.actions import Action, Delete, Patch, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import disruption_target, is_ready, is_terminal, node_index, status_of
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.metric_families import Counter
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of, namespace_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

QUARANTINE = 40.0
CHECK_SECONDS = 20.0
"""How long a pod that was never on a node may take to go: upstream looks so often."""
THRESHOLD = 12500
KEY = "all"
_BY_NODE, _BY_END, _OUT_OF_SERVICE = "node", "podgc/end", "podgc/out of service"
_ENDED, _STUCK = "ended", "never on a node"
_LABELS = ("namespace", "reason")
_NOW = {"gracePeriodSeconds": 0}


def node_of(pod: Object) -> str:
    """Return the node that the pod is assigned to, or the empty string."""
    return str((pod.get("spec") or {}).get("nodeName", ""))


def only_finalizers_hold(pod: Object) -> bool:
    """Tell whether a pod has ended and its deletion at once was accepted: deleting it again would change nothing."""
    meta = metadata(pod)
    going = is_being_deleted(pod) and meta.get("deletionGracePeriodSeconds") == 0
    return going and bool(meta.get("finalizers")) and is_terminal(pod)


@dataclass(frozen=True, slots=True)
class Collected:
    """A pod that goes: what does that, and why, as metrics have it."""

    pod: Object
    reason: str
    actions: Sequence[Action]


def decide(
    pods: Sequence[Object], gone_nodes: AbstractSet[str], dead_nodes: AbstractSet[str], threshold: int, now: datetime
) -> list[Collected]:
    """Return the pods that are due.

    Args:
        pods: all pods, or at least those that have ended, are being deleted, or are on nodes that are gone.
        gone_nodes: nodes that pods name and that have not existed for the quarantine.
        dead_nodes: nodes that are not ready and tainted as out of service.
        threshold: how many ended pods may stay; 0 for any number.
        now: the time.
    """
    found: list[Collected] = []
    waiting = [pod for pod in pods if not only_finalizers_hold(pod)]
    for pod in waiting:
        if node_of(pod) in gone_nodes:
            found.append(Collected(pod, "orphaned", _end(pod, "PodGC: node no longer exists", now)))
        elif is_being_deleted(pod) and not node_of(pod):
            found.append(Collected(pod, "unscheduled", _end(pod, "", now)))
        elif is_being_deleted(pod) and node_of(pod) in dead_nodes:
            found.append(Collected(pod, "out-of-service", _end(pod, "", now)))
    excess = sum(map(is_terminal, pods)) - threshold
    if threshold and excess > 0:
        oldest = sorted(filter(is_terminal, waiting), key=_deletion_order)[:excess]
        found += [Collected(pod, "terminated", [Delete.of(PODS, pod, _NOW)]) for pod in oldest]
    return found


def _deletion_order(pod: Object) -> tuple[bool, str, str]:
    """Order pods that have ended: evicted ones first, then by age."""
    is_evicted = status_of(pod).get("reason") == "Evicted"
    return not is_evicted, metadata(pod).get("creationTimestamp", ""), name_of(pod)


def _end(pod: Object, why: str, now: datetime) -> list[Action]:
    """Return what marks an unfinished pod as failed, so that a job sees it, and deletes it at once.

    No kubelet is left to say that it has ended. A pod that was being deleted anyway gets no condition (`why` is empty).
    """
    if is_terminal(pod):
        return [Delete.of(PODS, pod, _NOW)]
    status: Object = {"phase": "Failed"}
    if why:
        target = disruption_target("DeletionByPodGC", why)
        status["conditions"] = with_condition(status_of(pod).get("conditions") or (), target, now)
    patch = {"metadata": {"uid": metadata(pod).get("uid")}, "status": status}
    return [Patch(PODS, name_of(pod), patch, namespace_of(pod), "status"), Delete.of(PODS, pod, _NOW)]


class Settings(Record):
    """How many ended pods are kept; 0 keeps all."""

    terminated_pod_gc_threshold: int = THRESHOLD


class Podgc(Plugin):
    """Looks when something happened that can leave pods behind; polls nothing."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._threshold = self.settings(Settings).terminated_pod_gc_threshold
        self._missing: dict[str, float] = {}
        self._deletions = Counter(
            "pod_gc_collector_force_delete_pods",
            "Number of pods that are being forcefully deleted since the Pod GC Controller started.",
            _LABELS,
        )
        self._errors = Counter(
            "pod_gc_collector_force_delete_pod_errors",
            "Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.",
            _LABELS,
        )
        self._metrics = ControllerMetrics(self._deletions, self._errors)
        self._metrics.register(self.context)
        self._pods = self.informers.informer(PODS)
        self._nodes = self.informers.informer(NODES)
        self._pods.add_index(_BY_NODE, node_index)
        self._pods.add_index(_BY_END, _by_end)
        self._nodes.add_index(_OUT_OF_SERVICE, lambda node: ("",) if _is_dead(node) else ())
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new))
        self._nodes.add_handler(
            on_update=lambda _old, new: self._loop.queue.add(KEY) if _is_dead(new) else None,
            on_delete=lambda _node: self._loop.queue.add(KEY),
        )
        return self._loop

    def _pod_seen(self, pod: Object) -> None:
        """Look at the pods if this one may be due, or one too many has ended with it."""
        name = node_of(pod)
        if not name and is_being_deleted(pod):
            self._loop.queue.add_after(KEY, CHECK_SECONDS)  # nearly all of them go at once, by themselves
        node = self._nodes.get("", name) if name else None
        due = bool(name) and node is None
        if node is not None and is_being_deleted(pod):
            due = _is_dead(node)
        if due or (is_terminal(pod) and self._too_many_ended()):
            self._loop.queue.add(KEY)

    def _too_many_ended(self) -> bool:
        return 0 < self._threshold < self._pods.index_size(_BY_END, _ENDED)

    def _sync(self, _key: str) -> float | None:
        now = self.context.clock.monotonic()
        missing = {name for name in self._pods.index_values(_BY_NODE) if self._nodes.get("", name) is None}
        self._missing = {name: self._missing.get(name, now) for name in missing}
        gone = {name for name, since in self._missing.items() if now - since >= QUARANTINE and self._is_gone(name)}
        dead = {name_of(node) for node in self._nodes.by_index(_OUT_OF_SERVICE, "")}
        pods = self._suspects(gone | dead)
        self._collect(decide(pods, gone, dead, self._threshold, self.context.clock.now()))
        waits = [QUARANTINE - (now - since) for name, since in self._missing.items() if name not in gone]
        return max(0.0, min(waits)) if waits else None

    def _suspects(self, nodes: AbstractSet[str]) -> list[Object]:
        """Return each pod that may be due once: those of such nodes, those stuck, and all ended ones if too many."""
        found = [pod for name in nodes for pod in self._pods.by_index(_BY_NODE, name)]
        found += self._pods.by_index(_BY_END, _STUCK)
        if self._too_many_ended():
            found += self._pods.by_index(_BY_END, _ENDED)
        return [*{(namespace_of(pod), name_of(pod)): pod for pod in found}.values()]

    def _collect(self, found: Sequence[Collected]) -> None:
        """End each pod by itself: one that cannot be ended holds up no other, and is tried again.

        Raises:
            ApiError: a pod could not be ended.
        """
        failure: ApiError | None = None
        for each in found:
            labels = (namespace_of(each.pod), each.reason)
            self._metrics.add(self._deletions, labels)
            try:
                perform(self.client, None, each.actions)
            except NotFound:
                continue  # it has gone already
            except ApiError as error:
                self._metrics.add(self._errors, labels)
                failure = failure or error
        if failure is not None:
            raise failure

    def _is_gone(self, name: str) -> bool:
        """Ask the server: the cache alone is no reason to delete pods."""
        try:
            self.client.get(NODES, name)
        except NotFound:
            return True
        return False


def _by_end(pod: Object) -> tuple[str, ...]:
    stuck = is_being_deleted(pod) and not node_of(pod)
    return ((_ENDED,) if is_terminal(pod) else ()) + ((_STUCK,) if stuck else ())


def _is_dead(node: Object) -> bool:
    """Tell whether the node is not ready and was declared out of service."""
    taints = (node.get("spec") or {}).get("taints") or []
    declared = any(taint.get("key") == "node.kubernetes.io/out-of-service" for taint in taints)
    return declared and not is_ready(node)
