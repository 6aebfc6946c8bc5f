"""What the scheduler believes about nodes and placed pods: the API's news, and its own decisions until these arrive.

A decided pod is assumed on its node at once, so that the next decision counts it. The API's news of the binding
replaces the assumption; a binding that fails takes it back. News that is older than the assumption does not undo it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, uid_of

if TYPE_CHECKING:
    from hyperkube.scheduler.node_table import Nodes
    from hyperkube.scheduler.pod_info import QueuedPod


@dataclass(frozen=True, slots=True)
class _Assumed:
    uid: str
    node: NodeName


@dataclass(frozen=True, slots=True)
class Nominated:
    """A pod for which room is being made on a node."""

    pod: Object
    uid: str
    node: NodeName
    priority: int


class ClusterState:
    """Feeds the node table; the table is made with the first pod, because numpy costs start-up time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._table: Nodes | None = None
        self._early_nodes: dict[str, Object] = {}
        self._early_pods: dict[str, tuple[Object, NodeName]] = {}
        self._assumed: dict[str, _Assumed] = {}
        self._where: dict[str, NodeName] = {}
        self._nominated: dict[str, Nominated] = {}

    def table(self) -> Nodes:
        """Return the node table, made from what was seen so far at the first call."""
        if self._table is None:
            from hyperkube.scheduler.node_table import Nodes

            with self._lock:
                table = Nodes()
                for node in self._early_nodes.values():
                    table.put_node(node)
                for pod, node_name in self._early_pods.values():
                    table.put_pod(pod, node_name)
                self._early_nodes.clear()
                self._early_pods.clear()
                table.lock = self._lock
                self._table = table
        return self._table

    def node(self, node: Object) -> bool:
        """Take in a node's state; tell whether scheduling is concerned."""
        with self._lock:
            if self._table is not None:
                return self._table.put_node(node)
            self._early_nodes[name_of(node)] = node
            return True

    def node_gone(self, name: NodeName) -> None:
        """Take in that a node went."""
        with self._lock:
            if self._table is not None:
                self._table.remove_node(name)
            self._early_nodes.pop(name, None)

    def pod(self, pod: Object) -> bool:
        """Take in a pod's state; tell whether it is, or is about to be, on a node."""
        key, node = key_of(pod), NodeName(pod.get("spec", {}).get("nodeName") or "")
        with self._lock:
            if is_terminal(pod):
                self._take_off(key)
                return bool(node)
            if node:
                self._nominated.pop(key, None)
                assumed = self._assumed.pop(key, None)
                if assumed is not None and assumed.node != node:
                    self._take_off(key)
                self._put(pod, key, node)
                return True
            held = self._assumed.get(key)
            if held is not None and held.uid != uid_of(pod):
                self._take_off(key)
                return False
            return held is not None

    def pod_gone(self, pod: Object) -> bool:
        """Take in that a pod went; tell whether it had a node."""
        key = key_of(pod)
        with self._lock:
            self._nominated.pop(key, None)
            return self._take_off(key)

    def assume(self, info: QueuedPod, node: NodeName) -> None:
        """Count a pod on the node that was chosen for it."""
        with self._lock:
            pod = {**info.pod, "spec": {**info.pod["spec"], "nodeName": node}}
            self._assumed[info.key] = _Assumed(uid_of(info.pod), node)
            self._nominated.pop(info.key, None)
            self._where[info.key] = node
            self.table().put_pod(pod, node, info.demand)

    def forget(self, pod: Object) -> None:
        """Take an assumption back, unless the API has spoken about the pod meanwhile."""
        key = key_of(pod)
        with self._lock:
            assumed = self._assumed.get(key)
            if assumed is not None and assumed.uid == uid_of(pod):
                self._take_off(key)

    def nominate(self, pod: Object, node: NodeName, priority: int) -> None:
        """Remember that room is being made for a pod."""
        with self._lock:
            self._nominated[key_of(pod)] = Nominated(pod, uid_of(pod), node, priority)

    def unnominate(self, key: str) -> None:
        """Forget that room was being made for a pod."""
        with self._lock:
            self._nominated.pop(key, None)

    def nominated(self, besides: str, priority: int) -> list[Nominated]:
        """Return the nominated pods of at least that priority, besides one; empty nearly always."""
        if not self._nominated:
            return []
        return [each for key, each in self._nominated.items() if key != besides and each.priority >= priority]

    def sizes(self) -> dict[str, int]:
        """Return how many nodes, placed pods and assumed pods are known."""
        with self._lock:
            nodes = len(self._table) if self._table is not None else len(self._early_nodes)
            return {"nodes": nodes, "pods": len(self._where), "assumed_pods": len(self._assumed)}

    def _put(self, pod: Object, key: str, node: NodeName) -> None:
        before = self._where.get(key)
        if before is not None and before != node:
            self._take_off(key)
        self._where[key] = node
        if self._table is None:
            self._early_pods[key] = (pod, node)
        else:
            self._table.put_pod(pod, node)

    def _take_off(self, key: str) -> bool:
        self._assumed.pop(key, None)
        self._early_pods.pop(key, None)
        node = self._where.pop(key, None)
        if node is None:
            return False
        if self._table is not None:
            self._table.remove_pod(key, node)
        return True
