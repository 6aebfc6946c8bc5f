"""The API's news of nodes and pods: to the cluster's cache, and to the pods that wait for just that."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.profile.profiles import Profiles
from hyperkube_host.scheduler.queue.cluster_events import NODE, NODE_DELETED, POD, POD_DELETED
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue
from hyperkube_lib.resized_pods import is_infeasible, resized_statuses

from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.pods import containers, is_terminal, priority_of
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.objects import NodeName, Object, is_being_deleted, key_of, labels_of, name_of

REMOVED = "removed"
"""Why a pod that is deleted gets no permission. Source: kubernetes ``framework/runtime`` (RejectWaitingPod)."""


class EventHandlers:
    """Takes in what informers say, and times it; its methods are called on the informers' threads."""

    def __init__(
        self,
        cache: SchedulerCache,
        queue: SchedulingQueue,
        profiles: Profiles,
        metrics: SchedulerMetrics,
        reject: Callable[[str, str], object] = lambda _key, _reason: None,
    ) -> None:
        """Take the parts; `reject` ends the wait for permission of a pod, ``namespace/name``, for a reason."""
        self._reject = reject
        self._cache = cache
        self._queue = queue
        self._profiles = profiles
        self._metrics = metrics

    def watch(self, informers: InformerFactory) -> None:
        """Listen to nodes and pods from now on."""
        informers.informer(NODES).add_handler(
            on_add=lambda node: self._timed("NodeAdd", lambda: self._node(node)),
            on_update=lambda _old, node: self._timed("NodeUpdate", lambda: self._node(node)),
            on_delete=lambda node: self._timed("NodeDelete", lambda: self._node_gone(node)),
        )
        informers.informer(PODS).add_handler(
            on_add=lambda pod: self._timed(f"{_kind(pod)}Add", lambda: self._pod(None, pod)),
            on_update=lambda old, pod: self._timed(f"{_kind(pod)}Update", lambda: self._pod(old, pod)),
            on_delete=lambda pod: self._timed(f"{_kind(pod)}Delete", lambda: self._pod_gone(pod)),
        )

    def _timed(self, event: str, take_in: Callable[[], None]) -> None:
        since = self._metrics.clock.monotonic()
        take_in()
        self._metrics.event(event, self._metrics.clock.monotonic() - since)

    def _node(self, node: Object) -> None:
        if self._cache.put_node(node):
            self._queue.move_all(NODE)

    def _node_gone(self, node: Object) -> None:
        self._cache.remove_node(NodeName(name_of(node)))
        self._queue.move_all(NODE_DELETED)

    def _pod(self, old: Object | None, pod: Object) -> None:
        ended = is_terminal(pod)
        placed = self._cache.put_pod(pod)
        if is_being_deleted(pod):
            self._reject(key_of(pod), REMOVED)
        if placed or ended or is_being_deleted(pod):
            if not placed or pod.get("spec", {}).get("nodeName"):
                self._queue.delete(key_of(pod))
            if ended and (old is None or not is_terminal(old)):
                self._queue.move_all(POD_DELETED)
            elif old is None or _concerns_others(old, pod):
                self._queue.move_all(POD)
            if old is not None and _asks_otherwise(old, pod):
                self._queue.move_all(POD_DELETED)
        elif self._profiles.handles(pod):
            if old is None:
                self._cache.nominate_from_status(pod, priority_of(pod))
            self._queue.add(pod)

    def _pod_gone(self, pod: Object) -> None:
        self._queue.delete(key_of(pod))
        self._reject(key_of(pod), REMOVED)
        if self._cache.remove_pod(pod):
            self._queue.move_all(POD_DELETED)


def _kind(pod: Object) -> str:
    return "AssignedPod" if pod.get("spec", {}).get("nodeName") else "UnscheduledPod"


def _asks_otherwise(old: Object, new: Object) -> bool:
    """Tell whether a placed pod is or was resized: like one that went, it may have left room."""
    if (old.get("spec") or {}).get("resources") != (new.get("spec") or {}).get("resources"):
        return True
    if resized_statuses(old) != resized_statuses(new) or is_infeasible(old) != is_infeasible(new):
        return True
    return any(
        before.get("resources") != after.get("resources")
        for before, after in zip(containers(old), containers(new), strict=False)
    )


def _concerns_others(old: Object, new: Object) -> bool:
    """Tell whether a placed pod's news may help others: it was placed just now, or has other labels."""
    if old.get("spec", {}).get("nodeName") != new.get("spec", {}).get("nodeName"):
        return True
    return labels_of(old) != labels_of(new)
