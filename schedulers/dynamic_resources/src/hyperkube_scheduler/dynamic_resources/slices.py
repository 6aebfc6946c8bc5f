"""All slices by pool and by node: a node's devices are found without a look at those of the others."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term
from hyperkube_scheduler.dynamic_resources.pools import Part, Pool, View

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.machinery.objects import Object, name_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask

_Key = tuple[str, str]


class Slices:
    """Pools made of slices as these come, change and go; thread-safe.

    Attributes:
        version: grows with every change.
    """

    def __init__(self, slices: Iterable[Object] = (), *, partitions: bool = True) -> None:
        """Begin with some slices; without `partitions` pools leave out what needs that ability."""
        self.version = 0
        self._partitions = partitions
        self._lock = threading.Lock()
        self._rows: dict[_Key, dict[str, Object]] = {}
        self._where: dict[str, _Key] = {}
        self._changed: set[_Key] = set()
        self._pools: dict[_Key, Pool] = {}
        self._local: dict[str, dict[_Key, Pool]] = {}
        self._wide: dict[_Key, Pool] = {}
        for each in slices:
            self.put(each)

    def put(self, each: Object) -> None:
        """Take a new slice, or its new state."""
        with self._lock:
            key = (each["spec"]["driver"], each["spec"]["pool"]["name"])
            self._drop(name_of(each))
            self._where[name_of(each)] = key
            self._rows.setdefault(key, {})[name_of(each)] = each
            self._changed.add(key)

    def remove(self, each: Object) -> None:
        """Forget a slice."""
        with self._lock:
            self._drop(name_of(each))

    def reach(self, nodes: NodeTable) -> Reach:
        """Return which pools the nodes of a table can reach."""
        with self._lock:
            for key in self._changed:
                self._rebuild(key)
            self._changed.clear()
            wide = [(key, pool, [(part, _mask(part, nodes)) for part in pool.wide]) for key, pool in self._wide.items()]
            return Reach(self._local, wide)

    def _drop(self, name: str) -> None:
        self.version += 1
        key = self._where.pop(name, None)
        if key is not None:
            self._changed.add(key)
            rows = self._rows[key]
            del rows[name]
            if not rows:
                del self._rows[key]

    def _rebuild(self, key: _Key) -> None:
        old = self._pools.pop(key, None)
        self._wide.pop(key, None)
        for node in () if old is None else old.local:
            known = {other: pool for other, pool in self._local[node].items() if other != key}
            self._local[node] = known
            if not known:
                del self._local[node]
        rows = self._rows.get(key)
        if not rows:
            return
        pool = self._pools[key] = Pool(*key, rows.values(), partitions=self._partitions)
        if pool.wide:
            self._wide[key] = pool
        for node in pool.local:
            self._local[node] = {**self._local.get(node, {}), key: pool}


class Reach:
    """What each node can reach, for one look at the nodes."""

    def __init__(
        self, local: dict[str, dict[_Key, Pool]], wide: list[tuple[_Key, Pool, list[tuple[Part, Mask]]]]
    ) -> None:
        self._local = local
        self._wide = wide

    def columns(self, nodes: NodeTable) -> Mask:
        """Return which nodes reach any slice at all."""
        local = self._local
        found = np.fromiter((name in local for name in nodes.names), dtype=bool, count=len(nodes))
        for _, _, parts in self._wide:
            for _, mask in parts:
                found |= mask
        return found

    def views(self, node: str, column: int) -> list[View]:
        """Return what a node reaches, pool by pool in order; those with devices to be made ready come last."""
        pools = self._local.get(node, {})
        parts: dict[_Key, list[Part]] = {}
        for key, pool, rows in self._wide:
            here = [part for part, mask in rows if mask[column]]
            if here:
                parts[key] = here
                pools = {**pools, key: pool}
        keys = sorted(pools) if len(pools) > 1 else pools
        views = [pools[key].view(node, parts.get(key, ())) for key in keys]
        found = [view for view in views if view is not None]
        found.sort(key=lambda view: view.conditional)
        return found

    def stamp(self, node: str, column: int, changes: Mapping[tuple[str, str], int]) -> list[object]:
        """Return what stands for all that a node reaches and for what is in use of it: equal as long as it is.

        Args:
            node: the node's name.
            column: its place in the table.
            changes: how often the use of a pool changed.
        """
        found: list[object] = [(pool, changes.get(key, 0)) for key, pool in self._local.get(node, {}).items()]
        for key, pool, rows in self._wide:
            here = [part for part, mask in rows if mask[column]]
            if here:
                found.append((pool, here, changes.get(key, 0)))
        return found


def _mask(part: Part, nodes: NodeTable) -> Mask:
    stamp = (nodes.node_generation, len(nodes))
    if part.seen is None or part.seen[0] != stamp:
        part.seen = (stamp, _reached(part.holder, nodes))
    return part.seen[1]


def _reached(holder: Object, nodes: NodeTable) -> Mask:
    if holder.get("allNodes"):
        return np.ones(len(nodes), dtype=bool)
    if holder.get("nodeSelector"):
        return any_term(holder["nodeSelector"].get("nodeSelectorTerms") or (), nodes)
    return np.zeros(len(nodes), dtype=bool)
