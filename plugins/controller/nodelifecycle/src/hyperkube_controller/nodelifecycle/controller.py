"""The loop over nodes; it does not poll.

A node's key comes back by itself when its grace runs out; each sign of life (a renewed lease, a new heartbeat) puts
that off. What counts is this process's clock at the moment of seeing it, not the time that the node wrote. Keys with a
slash are pods that came to a node which is not ready.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_controller.nodelifecycle.health import (
    is_evicting,
    silenced,
    wanted_labels,
    wanted_taints,
    what_counts,
)
from hyperkube_controller.nodelifecycle.metrics import NodeMetrics
from hyperkube_controller.nodelifecycle.zones import Change, EvictionRates, ZoneEvictions, zone_key

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_ready, node_index
from hyperkube.kinds.resources import LEASES, NODES, PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import (
    Object,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from hyperkube.machinery.times import format_time, parse_time
from hyperkube.plugin import Plugin

LEASE_NAMESPACE = "kube-node-lease"
GRACE = 50.0
STARTUP_GRACE = 60.0
MONITOR_PERIOD = 5.0
"""Seconds between marking a node as silent and emptying it: others that fell silent with it are marked meanwhile."""
_BY_NODE = "node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """For how many seconds a node may be silent, also while it starts; at which rate nodes are emptied."""

    node_monitor_grace_period: float = GRACE
    node_startup_grace_period: float = STARTUP_GRACE
    node_eviction_rate: float = 0.1
    secondary_node_eviction_rate: float = 0.01
    unhealthy_zone_threshold: float = 0.55
    large_cluster_size_threshold: int = 50

    @property
    def rates(self) -> EvictionRates:
        """The rates as the zones want them."""
        return EvictionRates(
            primary=self.node_eviction_rate,
            secondary=self.secondary_node_eviction_rate,
            unhealthy_threshold=self.unhealthy_zone_threshold,
            large_size=self.large_cluster_size_threshold,
        )


class Nodelifecycle(Plugin):
    """Watches over nodes, and taints those that are not well."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has one worker, to which the zones belong."""
        settings, clock, logger = self.settings(Settings), self.context.clock, self.context.logger
        self._grace = settings.node_monitor_grace_period
        self._startup_grace = settings.node_startup_grace_period
        self._recorder = EventRecorder(self.client, clock, "node-controller")
        self._zones = ZoneEvictions(settings.rates)
        self._metrics = NodeMetrics()
        self._metrics.register(self.context)
        self._known: dict[str, Object] | None = None
        self._heard: dict[str, float] = {}
        self._waited_for: set[str] = set()
        """Nodes that have not been heard of, or not for long: their next sign of life is looked at."""
        self._nodes = self.informers.informer(NODES)
        self._pods = self.informers.informer(PODS)
        # Those of all namespaces, which are watched for other controllers anyway: hardly any are not of nodes.
        self._leases = self.informers.informer(LEASES)
        self._pods.add_index(_BY_NODE, node_index)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=clock, logger=logger)
        self._nodes.add_handler(self._node_added, self._node_updated, self._node_deleted)
        self._leases.add_handler(self._lease_seen, self._lease_renewed)
        self._pods.add_handler(self._pod_bound, self._pod_updated)
        return self._loop

    def _hear(self, name: str) -> None:
        self._heard[name] = self.context.clock.monotonic()
        if name in self._waited_for:
            self._loop.queue.add(name)

    def _note(self, node: Object) -> None:
        """Note whether a node is waited for: thousands of leases a second cannot each look into their node."""
        ready = condition(node.get("status") or {}, "Ready")
        if ready is None or ready.get("status") == "Unknown":
            self._waited_for.add(name_of(node))
        else:
            self._waited_for.discard(name_of(node))

    def _node_added(self, node: Object) -> None:
        """Begin to wait for a sign of life; one that never spoke has been silent since it was made."""
        name, clock = name_of(node), self.context.clock
        seen = clock.monotonic()
        if condition(node.get("status") or {}, "Ready") is None and (made := metadata(node).get("creationTimestamp")):
            seen -= max((clock.now() - parse_time(made)).total_seconds(), 0.0)
        self._heard[name] = max(seen, self._heard.get(name, seen))
        self._note(node)
        self._loop.enqueue(node)

    def _node_updated(self, old: Object, new: Object) -> None:
        if _heartbeat(old) != _heartbeat(new):
            self._heard[name_of(new)] = self.context.clock.monotonic()
        self._note(new)
        if what_counts(old) != what_counts(new):
            self._loop.enqueue(new)

    def _node_deleted(self, node: Object) -> None:
        self._heard.pop(name_of(node), None)
        self._waited_for.discard(name_of(node))
        self._loop.enqueue(node)

    def _lease_seen(self, lease: Object) -> None:
        if namespace_of(lease) == LEASE_NAMESPACE:
            self._hear(name_of(lease))

    def _lease_renewed(self, old: Object, new: Object) -> None:
        # The server writes all of these times alike, in UTC with six digits: their texts are in the order of the times.
        if _renewal(new) > _renewal(old) and namespace_of(new) == LEASE_NAMESPACE:
            self._hear(name_of(new))

    def _pod_bound(self, pod: Object) -> None:
        """Look at a pod that comes to a node which is known, and is not ready."""
        name = _node_of(pod)
        ready = condition((self._nodes.get("", name) or {}).get("status") or {}, "Ready")
        if name in (self._known or ()) and ready is not None and ready.get("status") != "True" and is_ready(pod):
            self._loop.enqueue(pod)

    def _pod_updated(self, old: Object, new: Object) -> None:
        """Look at a pod that is bound, or says that it is ready while its node is silent."""
        name = _node_of(new)
        if _node_of(old) != name:
            self._pod_bound(new)
        elif name in self._waited_for and is_ready(new):
            # A node that falls silent brings all of its pods: those that are told of before it is noted, too.
            node = self._nodes.get("", name)
            if node is not None and _is_silent(node):
                self._loop.enqueue(new)

    def _sync(self, key: str) -> float | None:
        if "/" in key:
            self._sync_pod(key)
            return None
        clock = self.context.clock
        started = clock.monotonic()
        again = self._sync_node(key)
        self._metrics.looked(clock.monotonic() - started)
        return again

    def _sync_pod(self, key: str) -> None:
        """Take a pod out of service if its node is still not ready."""
        namespace, _, name = key.partition("/")
        pod = self._pods.get(namespace, name)
        node = self._nodes.get("", _node_of(pod)) if pod is not None else None
        ready = condition((node or {}).get("status") or {}, "Ready")
        if pod is not None and ready is not None and ready.get("status") != "True":
            self._mark_pods([pod])

    def _sync_node(self, name: str) -> float | None:
        self._know_all()
        node = self._nodes.get("", name)
        self._register(name, node)
        if node is None:
            return None
        clock = self.context.clock
        ready = condition(node.get("status") or {}, "Ready")
        grace = self._startup_grace if ready is None else self._grace
        left = grace - (clock.monotonic() - self._heard.setdefault(name, clock.monotonic()))
        fell = False
        if left <= 0:
            status = silenced(node, clock.now())
            if status is not None:
                node = self.client.update(NODES, {**node, "status": status}, subresource="status")
                fell = ready is not None and ready.get("status") == "True"
                self._zones.hold(name, clock.monotonic() + MONITOR_PERIOD)
        self._zones.put(node, name, ready=is_ready(node))
        self._judge(but=name)
        if fell:
            self._recorder.event(node, "Normal", "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        turn = self._set_taints(node, name)
        if labels := wanted_labels(node):
            self.client.patch(NODES, name, {"metadata": {"labels": labels}})
        if _is_silent(node):
            self._mark_pods(self._pods.by_index(_BY_NODE, name))
        waits = [seconds for seconds in (max(left, 0.0), turn) if seconds]
        return min(waits, default=None)

    def _know_all(self) -> None:
        """Count all nodes before the first one is judged: alone it would pass for a cluster without a ready node."""
        if self._known is None:
            self._known = {}
            for node in self._nodes.list():
                self._zones.put(node, name_of(node), ready=is_ready(node))

    def _register(self, name: str, node: Object | None) -> None:
        """Tell of nodes that come and go."""
        known = self._known if self._known is not None else {}
        if node is None:
            self._zones.drop(name)
            gone = known.pop(name, None)
            if gone is not None:
                text = f"Node {name} event: Removing Node {name} from Controller"
                self._recorder.event(gone, "Normal", "RemovingNode", text)
            self._judge()
        elif name not in known:
            known[name] = {"kind": "Node", "apiVersion": "v1", "name": name, "uid": uid_of(node)}
            text = f"Node {name} event: Registered Node {name} in Controller"
            self._recorder.event(known[name], "Normal", "RegisteredNode", text)

    def _judge(self, but: str = "") -> None:
        """Look at the nodes that are not ready when the rates of zones have changed, but the one that is looked at."""
        change = self._zones.judge(self.context.clock.monotonic())
        self._metrics.counted(self._zones.sizes())
        if change is Change.NONE:
            return
        now = self.context.clock.monotonic()
        for node in self._nodes.list():
            if change is Change.RESUMED:
                # The silence was ours as likely as theirs: each node gets its grace anew.
                self._heard[name_of(node)] = now
            if not is_ready(node) and name_of(node) != but:
                self._loop.enqueue(node)

    def _set_taints(self, node: Object, name: str) -> float | None:
        """Give the node the taints it should have; return in how many seconds it may be its turn to be emptied.

        A taint that evicts is exchanged for the other one at once; a new one waits for a token of the node's zone.
        """
        clock = self.context.clock
        turn: float | None = None
        ready = condition(node.get("status") or {}, "Ready")
        failed = ready is not None and ready.get("status") in {"False", "Unknown"}
        was_evicting = is_evicting(node)
        if self._zones.is_stopped:
            evict = False
        elif was_evicting:
            evict = ready is None or failed  # without a condition nothing is known, and its taint stays
        elif failed:
            turn = self._zones.wait(name, clock.monotonic())
            evict = turn == 0
        else:
            evict = False
        wanted = wanted_taints(node, clock.now(), evict=evict)
        if wanted != ((node.get("spec") or {}).get("taints") or []):
            patch = {"metadata": {"resourceVersion": metadata(node)["resourceVersion"]}, "spec": {"taints": wanted}}
            self.client.patch(NODES, name, patch)
            if evict and not was_evicting:
                self._metrics.emptied(zone_key(node))
        if evict or not failed:
            self._zones.done(name)
        return turn

    def _mark_pods(self, pods: Iterable[Object]) -> None:
        """Take pods of a node that is not ready out of service; one that cannot be marked does not hold the others up.

        Raises:
            ApiError: the first refusal, after all pods were tried.
        """
        refused: ApiError | None = None
        for pod in pods:
            if not is_ready(pod):
                continue
            try:
                self._mark_pod(pod)
            except NotFound:
                continue
            except ApiError as error:
                refused = refused or error
        if refused is not None:
            raise refused

    def _mark_pod(self, pod: Object) -> None:
        stamp = format_time(self.context.clock.now())
        conditions = [
            {**entry, "status": "False", "lastTransitionTime": stamp} if entry.get("type") == "Ready" else entry
            for entry in pod["status"]["conditions"]
        ]
        patch = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": conditions}}
        self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        self._recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")


def _node_of(pod: Object) -> str:
    name: str = (pod.get("spec") or {}).get("nodeName") or ""
    return name


def _is_silent(node: Object) -> bool:
    """Tell whether the node is marked as not heard of."""
    ready = condition(node.get("status") or {}, "Ready")
    return ready is not None and ready.get("status") == "Unknown"


def _heartbeat(node: Object) -> str | None:
    """Return what the node's Ready condition says of its last heartbeat; None without the condition."""
    ready = condition(node.get("status") or {}, "Ready")
    return str(ready.get("lastHeartbeatTime", "")) if ready is not None else None


def _renewal(lease: Object) -> str:
    return (lease.get("spec") or {}).get("renewTime") or ""
