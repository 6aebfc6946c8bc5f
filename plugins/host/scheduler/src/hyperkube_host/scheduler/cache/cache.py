"""What the scheduler believes about nodes and placed pods: the API's news, and its own decisions until these arrive.

A decided pod is assumed on its node at once, so that the next decision counts it. The API's news of the binding
replaces the assumption; a binding that fails takes it back. News that is older than the assumption does not undo it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.cache.table_lock import TableLock

from hyperkube.hookspecs.pod_groups import GroupKey, group_of
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName, Object, key_of, name_of, uid_of

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod


EXPIRY_SECONDS = 30.0
"""After so long without news of a binding that the API has taken, the pod is no longer counted; kubernetes 1.20."""


@dataclass(slots=True)
class _Assumed:
    uid: str
    node: NodeName
    until: float | None = None
    """By when there should be news of a binding that the API took; set without the lock."""


@dataclass(frozen=True, slots=True)
class Nominated:
    """A pod for which room is being made on a node."""

    pod: Object
    uid: str
    node: NodeName
    priority: int


class SchedulerCache:
    """Feeds the node table; the table is made with the first pod, because numpy costs start-up time."""

    def __init__(self) -> None:
        self._lock = TableLock()
        self._table: Nodes | None = None
        self._pending_nodes: dict[str, Object] = {}
        self._pending_pods: dict[str, tuple[Object, NodeName]] = {}
        self._assumed: dict[str, _Assumed] = {}
        self._where: dict[str, NodeName] = {}
        self._nominated: dict[str, Nominated] = {}
        self._groups: dict[str, GroupKey] = {}
        self._members: dict[GroupKey, dict[str, NodeName]] = {}

    def table(self) -> Nodes:
        """Return the node table, made from what was seen so far at the first call."""
        if self._table is None:
            from hyperkube_host.scheduler.cache.node_table import Nodes

            with self._lock:
                table = Nodes()
                for node in self._pending_nodes.values():
                    table.put_node(node)
                for pod, node_name in self._pending_pods.values():
                    table.put_pod(pod, node_name)
                self._pending_nodes.clear()
                self._pending_pods.clear()
                table.lock = self._lock
                self._table = table
        return self._table

    def put_node(self, node: Object) -> bool:
        """Take in a node's state; tell whether scheduling is concerned."""
        with self._lock:
            if self._table is not None:
                return self._table.put_node(node)
            self._pending_nodes[name_of(node)] = node
            return True

    def remove_node(self, name: NodeName) -> None:
        """Take in that a node went."""
        with self._lock:
            if self._table is not None:
                self._table.remove_node(name)
            self._pending_nodes.pop(name, None)

    def put_pod(self, pod: Object) -> bool:
        """Take in a pod's state; tell whether it is, or is about to be, on a node."""
        key, node = key_of(pod), NodeName(pod.get("spec", {}).get("nodeName") or "")
        if is_terminal(pod):
            self._lock.do_or_leave(lambda: self._remove(key))
            return bool(node)
        if node:
            self._lock.do_or_leave(lambda: self._confirm(pod, key, node))
            return True
        held = self._assumed.get(key)
        if held is not None and held.uid != uid_of(pod):
            self._lock.do_or_leave(lambda: self._replace(key, uid_of(pod)))
            return False
        return held is not None

    def remove_pod(self, pod: Object) -> bool:
        """Take in that a pod went; tell whether it had a node."""
        key = key_of(pod)
        with self._lock:
            self._nominated.pop(key, None)
            return self._remove(key)

    def assume(self, info: PreparedPod, node: NodeName) -> None:
        """Count a pod on the node that was chosen for it."""
        with self._lock:
            pod = {**info.pod, "spec": {**info.pod["spec"], "nodeName": node}}
            self._assumed[info.key] = _Assumed(uid_of(info.pod), node)
            self._nominated.pop(info.key, None)
            self._where[info.key] = node
            self._add_to_group(info.pod, info.key, node)
            self.table().put_pod(pod, node, info.demand)

    def forget(self, pod: Object) -> None:
        """Take an assumption back, unless the API has spoken about the pod meanwhile."""
        key = key_of(pod)
        with self._lock:
            assumed = self._assumed.get(key)
            if assumed is not None and assumed.uid == uid_of(pod):
                self._remove(key)

    def finish_binding(self, pod: Object, now: float) -> None:
        """Take in that the API took a binding: its news should come soon."""
        # Without the lock, for which a binder would wait long: an assumption that has gone meanwhile is not looked at.
        assumed = self._assumed.get(key_of(pod))
        if assumed is not None and assumed.uid == uid_of(pod):
            assumed.until = now + EXPIRY_SECONDS

    def cleanup_assumed(self, now: float) -> list[str]:
        """Count pods no longer of whose binding there was no news for too long; return them."""
        with self._lock:
            late = [key for key, each in self._assumed.items() if each.until is not None and each.until <= now]
            for key in late:
                self._remove(key)
            return late

    def nominate(self, pod: Object, node: NodeName, priority: int) -> None:
        """Remember that room is being made for a pod."""
        with self._lock:
            self._nominated[key_of(pod)] = Nominated(pod, uid_of(pod), node, priority)

    def unnominate(self, key: str) -> None:
        """Forget that room was being made for a pod."""
        with self._lock:
            self._nominated.pop(key, None)

    def nominated_node(self, key: str) -> NodeName | None:
        """Return where room is being made for a pod."""
        found = self._nominated.get(key)
        return None if found is None else found.node

    def nominate_from_status(self, pod: Object, priority: int) -> None:
        """Take in where the API says that room is being made for a pod, by this scheduler before it was restarted."""
        node = (pod.get("status") or {}).get("nominatedNodeName")
        if node:
            self.nominate(pod, NodeName(node), priority)

    def remove_lower_nominations(self, besides: str, node: NodeName, priority: int) -> list[Nominated]:
        """Drop the nominations of less important pods for a node; return them."""
        with self._lock:
            rows = [
                (key, each)
                for key, each in self._nominated.items()
                if key != besides and each.node == node and each.priority < priority
            ]
            for key, _ in rows:
                del self._nominated[key]
            return [each for _, each in rows]

    @contextlib.contextmanager
    def with_nominated_pods(self, key: str, priority: int) -> Iterator[bool]:
        """Have the other nominated pods of at least that priority on their nodes; tell whether there are any."""
        table = self.table()
        nominated = [each for each in self.nominated_pods(key, priority) if table.index_of(each.node) is not None]
        for each in nominated:
            table.put_pod({**each.pod, "spec": {**each.pod["spec"], "nodeName": each.node}}, each.node)
        try:
            yield bool(nominated)
        finally:
            for each in nominated:
                table.remove_pod(key_of(each.pod), each.node)

    def nominated_pods(self, besides: str, priority: int) -> list[Nominated]:
        """Return the nominated pods of at least that priority, besides one; empty nearly always."""
        if not self._nominated:
            return []
        return [each for key, each in self._nominated.items() if key != besides and each.priority >= priority]

    def sizes(self) -> dict[str, int]:
        """Return how many nodes, placed pods and assumed pods are known."""
        with self._lock:
            nodes = len(self._table) if self._table is not None else len(self._pending_nodes)
            return {"nodes": nodes, "pods": len(self._where), "assumed_pods": len(self._assumed)}

    def group_members(self, group: GroupKey) -> dict[str, NodeName]:
        """Return where the pods of a group are, or are about to be: ``namespace/name`` → node."""
        with self._lock:
            return dict(self._members.get(group, {}))

    def _add_to_group(self, pod: Object, key: str, node: NodeName) -> None:
        group = group_of(pod)
        if group is not None:
            self._groups[key] = group
            self._members.setdefault(group, {})[key] = node

    def _confirm(self, pod: Object, key: str, node: NodeName) -> None:
        """Count a pod where the API has it; the lock is held."""
        self._nominated.pop(key, None)
        assumed = self._assumed.pop(key, None)
        if assumed is not None and assumed.node != node:
            self._remove(key)
        self._place(pod, key, node)

    def _replace(self, key: str, uid: str) -> None:
        """Forget an assumption about another pod of that name; the lock is held."""
        held = self._assumed.get(key)
        if held is not None and held.uid != uid:
            self._remove(key)

    def _place(self, pod: Object, key: str, node: NodeName) -> None:
        before = self._where.get(key)
        if before is not None and before != node:
            self._remove(key)
        self._where[key] = node
        self._add_to_group(pod, key, node)
        if self._table is None:
            self._pending_pods[key] = (pod, node)
        else:
            self._table.put_pod(pod, node)

    def _remove(self, key: str) -> bool:
        self._assumed.pop(key, None)
        self._pending_pods.pop(key, None)
        node = self._where.pop(key, None)
        if node is None:
            return False
        group = self._groups.pop(key, None) if self._groups else None
        if group is not None:
            self._members[group].pop(key, None)
            if not self._members[group]:
                del self._members[group]
        if self._table is not None:
            self._table.remove_pod(key, node)
        return True
