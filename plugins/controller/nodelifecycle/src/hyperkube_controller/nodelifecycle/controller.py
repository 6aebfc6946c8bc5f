"""The loop over nodes; it does not poll.

A node's key comes back by itself when its grace runs out; each sign of life (a renewed lease, a new heartbeat) puts
that off. What counts is this process's clock at the moment of seeing it, not the time that the node wrote.
"""

from __future__ import annotations

from hyperkube_controller.nodelifecycle.health import (
    is_evicting,
    silenced,
    wanted_labels,
    wanted_taints,
    what_counts,
)
from hyperkube_controller.nodelifecycle.zones import Change, EvictionRates, ZoneEvictions

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_ready
from hyperkube.kinds.resources import LEASES, NODES, PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin

LEASE_NAMESPACE = "kube-node-lease"
GRACE = 40.0
STARTUP_GRACE = 60.0
_BY_NODE = "nodelifecycle/node"


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
        self._known: dict[str, Object] | None = None
        self._heard: dict[str, float] = {}
        self._nodes = self.informers.informer(NODES)
        self._pods = self.informers.informer(PODS)
        self._leases = self.informers.informer(LEASES, LEASE_NAMESPACE)
        self._pods.add_index(_BY_NODE, _by_node)
        self._loop = ReconcileLoop(self.context.name, self._sync_node, clock=clock, logger=logger)
        self._nodes.add_handler(self._node_added, self._node_updated, self._node_deleted)
        self._leases.add_handler(self._lease_seen, self._lease_renewed)
        self._pods.add_handler(self._pod_seen, lambda _old, new: self._pod_seen(new))
        return self._loop

    def _hear(self, name: str) -> None:
        self._heard[name] = self.context.clock.monotonic()
        node = self._nodes.get("", name)
        ready = condition((node or {}).get("status") or {}, "Ready")
        if ready is None or ready.get("status") == "Unknown":
            self._loop.queue.add(name)

    def _node_added(self, node: Object) -> None:
        self._heard[name_of(node)] = self.context.clock.monotonic()
        self._loop.enqueue(node)

    def _node_updated(self, old: Object, new: Object) -> None:
        if _heartbeat(old) != _heartbeat(new):
            self._heard[name_of(new)] = self.context.clock.monotonic()
        if what_counts(old) != what_counts(new):
            self._loop.enqueue(new)

    def _node_deleted(self, node: Object) -> None:
        self._heard.pop(name_of(node), None)
        self._loop.enqueue(node)

    def _lease_seen(self, lease: Object) -> None:
        self._hear(name_of(lease))

    def _lease_renewed(self, old: Object, new: Object) -> None:
        if (old.get("spec") or {}).get("renewTime") != (new.get("spec") or {}).get("renewTime"):
            self._hear(name_of(new))

    def _pod_seen(self, pod: Object) -> None:
        """Look at a silent node when a pod of it says that it is ready."""
        node = self._nodes.get("", (pod.get("spec") or {}).get("nodeName", ""))
        if node is not None and is_ready(pod) and _is_silent(node):
            self._loop.enqueue(node)

    def _sync_node(self, name: str) -> float | None:
        self._know_all()
        node = self._nodes.get("", name)
        self._register(name, node)
        if node is None or is_being_deleted(node):
            return None
        clock = self.context.clock
        ready = condition(node.get("status") or {}, "Ready")
        grace = self._startup_grace if ready is None else self._grace
        left = grace - (clock.monotonic() - self._heard.setdefault(name, clock.monotonic()))
        if left <= 0:
            status = silenced(node, clock.now())
            if status is not None:
                if ready is not None and ready.get("status") == "True":
                    self._recorder.event(node, "Normal", "NodeNotReady", f"Node {name} status is now: NodeNotReady")
                node = self.client.update(NODES, {**node, "status": status}, subresource="status")
        self._zones.put(node, name, ready=is_ready(node))
        self._judge()
        turn = self._set_taints(node, name)
        if labels := wanted_labels(node):
            self.client.patch(NODES, name, {"metadata": {"labels": labels}})
        if _is_silent(node):
            self._mark_pods(name)
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

    def _judge(self) -> None:
        """Look at the nodes that are not ready when the rates of zones have changed."""
        change = self._zones.judge(self.context.clock.monotonic())
        if change is Change.NONE:
            return
        now = self.context.clock.monotonic()
        for node in self._nodes.list():
            if change is Change.RESUMED:
                # The silence was ours as likely as theirs: each node gets its grace anew.
                self._heard[name_of(node)] = now
            if not is_ready(node):
                self._loop.enqueue(node)

    def _set_taints(self, node: Object, name: str) -> float | None:
        """Give the node the taints it should have; return in how many seconds it may be its turn to be emptied.

        A taint that evicts is exchanged for the other one at once; a new one waits for a token of the node's zone.
        """
        clock = self.context.clock
        turn: float | None = None
        ready = condition(node.get("status") or {}, "Ready")
        failed = ready is not None and ready.get("status") in {"False", "Unknown"}
        if self._zones.is_stopped or not failed:
            evict = False
        elif is_evicting(node):
            evict = True
        else:
            turn = self._zones.wait(name, clock.monotonic())
            evict = turn == 0
        wanted = wanted_taints(node, clock.now(), evict=evict)
        if wanted != ((node.get("spec") or {}).get("taints") or []):
            patch = {"metadata": {"resourceVersion": metadata(node)["resourceVersion"]}, "spec": {"taints": wanted}}
            self.client.patch(NODES, name, patch)
        if evict or not failed:
            self._zones.done(name)
        return turn

    def _mark_pods(self, name: str) -> None:
        """Take the pods of a silent node out of service: a kubelet that speaks says itself which are not ready."""
        stamp = format_time(self.context.clock.now())
        for pod in self._pods.by_index(_BY_NODE, name):
            if not is_ready(pod):
                continue
            conditions = [
                {**entry, "status": "False", "lastTransitionTime": stamp} if entry.get("type") == "Ready" else entry
                for entry in pod["status"]["conditions"]
            ]
            patch = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": conditions}}
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
            self._recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")


def _by_node(pod: Object) -> tuple[str, ...]:
    node = (pod.get("spec") or {}).get("nodeName", "")
    return (node,) if node else ()


def _is_silent(node: Object) -> bool:
    """Tell whether the node is marked as not heard of."""
    ready = condition(node.get("status") or {}, "Ready")
    return ready is not None and ready.get("status") == "Unknown"


def _heartbeat(node: Object) -> str:
    ready = condition(node.get("status") or {}, "Ready")
    return str(ready.get("lastHeartbeatTime", "")) if ready is not None else ""
