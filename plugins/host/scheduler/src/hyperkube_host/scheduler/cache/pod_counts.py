"""Placed pods, grouped by what selectors and pod affinity look at.

Pods of one template form one group, so that a selector is matched once per group and counted per node by adding a few
arrays, instead of being matched against every pod.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, namespace_of
from hyperkube.machinery.recent import exact

_NOTHING: Object = {}


class PodCounts:
    """One group; implements `hyperkube.hookspecs.node_table.PodCounts`."""

    __slots__ = ("affinity", "counts", "deleting", "key", "labels", "namespace")

    def __init__(self, key: bytes, pod: Object) -> None:
        self.key = key
        self.namespace = namespace_of(pod)
        self.labels = labels_of(pod)
        self.affinity = _affinity(pod)
        self.deleting = is_being_deleted(pod)
        self.counts: dict[int, int] = {}


class PartialPodCounts:
    """What a group has in some columns only."""

    __slots__ = ("affinity", "counts", "deleting", "labels", "namespace")

    def __init__(self, whole: PodCounts, counts: Mapping[int, int]) -> None:
        self.namespace, self.labels = whole.namespace, whole.labels
        self.affinity, self.deleting = whole.affinity, whole.deleting
        self.counts = counts


def _affinity(pod: Object) -> Object:
    affinity: Object = pod.get("spec", {}).get("affinity") or _NOTHING
    return affinity if affinity.get("podAffinity") or affinity.get("podAntiAffinity") else _NOTHING


class PodCountsIndex:
    """The groups of all placed pods; groups without pods go."""

    def __init__(self) -> None:
        self._pod_counts: dict[bytes, PodCounts] = {}
        self._by_namespace: dict[str, dict[bytes, PodCounts]] = {}
        self._listed: list[PodCounts] | None = None
        self._listed_with_affinity: list[PodCounts] | None = None

    def group_of(self, pod: Object) -> PodCounts:
        """Return the pod's group, made if need be."""
        parts = [namespace_of(pod), labels_of(pod), _affinity(pod), is_being_deleted(pod)]
        key = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        group = self._pod_counts.get(key)
        if group is None:
            group = PodCounts(exact(key), pod)
            self._add(group)
        return group

    def _add(self, group: PodCounts) -> None:
        self._pod_counts[group.key] = group
        self._by_namespace.setdefault(group.namespace, {})[group.key] = group
        self._listed = self._listed_with_affinity = None

    def _remove(self, group: PodCounts) -> None:
        if self._pod_counts.pop(group.key, None) is None:
            return
        here = self._by_namespace[group.namespace]
        del here[group.key]
        if not here:
            del self._by_namespace[group.namespace]
        self._listed = self._listed_with_affinity = None

    def count(self, group: PodCounts, column: int, sign: int) -> None:
        """Count one pod of the group in or out of a column."""
        number = group.counts.get(column, 0) + sign
        if number > 0:
            group.counts[column] = number
            if group.key not in self._pod_counts:
                self._add(group)
            return
        group.counts.pop(column, None)
        if not group.counts:
            self._remove(group)

    def in_namespace(self, namespace: str) -> Sequence[PodCounts]:
        """Return the groups of a namespace."""
        return list(self._by_namespace.get(namespace, {}).values())

    def listed(self) -> Sequence[PodCounts]:
        """Return all groups."""
        if self._listed is None:
            self._listed = list(self._pod_counts.values())
        return self._listed

    def with_affinity(self) -> Sequence[PodCounts]:
        """Return the groups whose pods have pod affinity or anti-affinity."""
        if self._listed_with_affinity is None:
            self._listed_with_affinity = [group for group in self._pod_counts.values() if group.affinity]
        return self._listed_with_affinity
