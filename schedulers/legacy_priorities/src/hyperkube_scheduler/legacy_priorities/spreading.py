"""What 1.x made of like pods: those of one service or controller, or of a spread constraint, go apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hyperkube_lib.scheduling.node_selectors import required
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node
from hyperkube_scheduler.legacy_priorities.scale import BEST

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.labels import Selector, from_label_selector, selector_from_map
from hyperkube.machinery.objects import Object, namespace_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask

ZONE_SHARE = 2.0 / 3.0
"""How much zones count against nodes."""
ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
"""The old label is asked first, as 1.x did that knew both."""
TEMPLATES = 1024
"""Templates whose selectors are remembered."""


class _ByOwners(ScorePlugin):
    """Counts per node the pods that all of some selectors select."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        informers = context.informers if context is not None else None
        self._owners = Owners(informers) if informers is not None else None

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return how many like pods each node has, leaving out those that are being deleted."""
        selectors, namespace = self._selectors(pod), namespace_of(pod.pod)
        if not selectors:
            return np.zeros(len(nodes), dtype=np.int64)
        like = (
            group
            for group in nodes.pod_counts()
            if group.namespace == namespace
            and not group.deleting
            and all(selector.matches(group.labels) for selector in selectors)
        )
        return per_node(like, len(nodes))

    def _selectors(self, pod: PodInfo) -> Sequence[Selector]:
        raise NotImplementedError


class SelectorSpreadPriority(_ByOwners):
    """The fewer pods a node and its zone have of the services and controllers that select this pod, the better."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._known: dict[str, tuple[int, Sequence[Selector]]] = {}

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that nothing selects the pod."""
        return not self._selectors(pod)

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn counts around, to 0 to `BEST`; two thirds by zone for nodes that are in one."""
        turned = _turned(scores, int(scores[feasible].max(initial=0)))
        zones = _zones(nodes)
        counted = feasible & (zones >= 0)
        if counted.any():
            sums = np.bincount(zones[counted], weights=scores[counted], minlength=len(nodes)).astype(np.int64)
            by_zone = _turned(sums, int(sums.max()))
            mixed = turned * (1.0 - ZONE_SHARE) + ZONE_SHARE * by_zone[zones]
            turned = np.where(zones >= 0, mixed, turned)
        return np.where(feasible, turned, 0).astype(np.int64)

    def _selectors(self, pod: PodInfo) -> Sequence[Selector]:
        """Return what selects the pod, looked up once for a template until a service or controller changes."""
        if self._owners is None:
            return ()
        version, known = self._owners.version, self._known.get(pod.template_key)
        if known is None or known[0] != version:
            if len(self._known) >= TEMPLATES:
                self._known.clear()
            known = self._known[pod.template_key] = (version, self._found(self._owners, pod))
        return known[1]

    def _found(self, owners: Owners, pod: PodInfo) -> Sequence[Selector]:
        return owners.selectors_by_labels(pod.pod)


class ServiceSpreadingPriority(SelectorSpreadPriority):
    """The same looking at services alone, as 1.0 did."""

    def _found(self, owners: Owners, pod: PodInfo) -> Sequence[Selector]:
        return [selector_from_map(each) for each in owners.service_selectors(pod.pod)]


class ServiceAntiAffinity(_ByOwners):
    """Spreads the pods of the first service that selects the pod over a label's values; no label scores 0.

    Settings: ``labels`` (label, weight 1 unless given); the scores of several, 0 to `BEST` each, times their weights
    add up.
    """

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Take ``serviceAntiAffinity`` (label) of a 1.x policy."""
        values = arguments["serviceAntiAffinity"]
        return {"labels": [{"label": each.get("label", ""), "weight": each["weight"]} for each in values]}

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._labels = [(str(row["label"]), int(row.get("weight") or 1)) for row in settings.get("labels") or ()]

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn the counts of each value around."""
        total = np.zeros(len(nodes), dtype=np.int64)
        number = int(scores[feasible].sum())
        for label, weight in self._labels:
            sums, _, codes = per_domain(nodes, label, scores, feasible)
            turned = _turned(sums[codes], number).astype(np.int64)
            total += np.where(codes >= 0, turned, 0) * weight
        return total

    def _selectors(self, pod: PodInfo) -> Sequence[Selector]:
        services = self._owners.service_selectors(pod.pod) if self._owners is not None else ()
        return [selector_from_map(each) for each in services[:1]]


class EvenPodsSpreadPriority(ScorePlugin):
    """The fewer pods that the soft spread constraints speak of are in a node's domains, the better.

    Source: kubernetes 1.16 ``pkg/scheduler/algorithm/priorities/even_pods_spread.go``.
    """

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no soft constraint."""
        return not _soft(pod)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return how many pods are counted in the domains of each node; -1 where a topology key is missing."""
        constraints, namespace = _soft(pod), namespace_of(pod.pod)
        labelled = np.ones(len(nodes), dtype=bool)
        for row in constraints:
            labelled &= nodes.label_exists(row["topologyKey"])
        counting = labelled & required(pod.pod, nodes)
        total = np.zeros(len(nodes), dtype=np.int64)
        for row in constraints:
            selector = from_label_selector(row.get("labelSelector"))
            like = (
                group for group in nodes.pod_counts() if group.namespace == namespace and selector.matches(group.labels)
            )
            sums, _, codes = per_domain(nodes, row["topologyKey"], per_node(like, len(nodes)), counting)
            total += sums[codes]
        return np.where(labelled, total, -1)

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn the counts around, against their sum over the nodes to choose from."""
        chosen = feasible & (scores >= 0)
        if not chosen.any():
            return np.zeros(len(nodes), dtype=np.int64)
        total, least = int(scores[chosen].sum()), int(scores[chosen].min())
        if total == least:
            return np.where(chosen, BEST, 0).astype(np.int64)
        return np.where(chosen, BEST * ((total - scores) / (total - least)), 0).astype(np.int64)


def _turned(counts: IntScores, most: int) -> NDArray[np.float64]:
    """Return `BEST` for nothing counted, 0 for `most`; divided before it is multiplied, as upstream rounds."""
    return BEST * ((most - counts) / most) if most else np.full(len(counts), float(BEST))


def _soft(pod: PodInfo) -> list[Object]:
    rows = pod.pod.get("spec", {}).get("topologySpreadConstraints") or ()
    return [row for row in rows if row.get("whenUnsatisfiable") == "ScheduleAnyway"]


def _zones(nodes: NodeTable) -> NDArray[np.int64]:
    """Return each node's zone as a number below the number of nodes, -1 where it has neither zone nor region."""
    zones, regions = _values(nodes, ZONES), _values(nodes, REGIONS)
    pairs = regions * (int(zones.max(initial=0)) + 1) + zones
    codes = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return np.where(pairs > 0, codes, -1).astype(np.int64)


def _values(nodes: NodeTable, keys: Sequence[str]) -> NDArray[np.int64]:
    """Return each node's value of the first of the labels that it has, as a number; 0 for none, or an empty one."""
    numbers: dict[str, int] = {"": 0}
    found = np.full(len(nodes), -1, dtype=np.int64)
    for key in keys:
        codes, values = nodes.label_codes(key)
        meaning = np.array([numbers.setdefault(value, len(numbers)) for value in values] + [-1], dtype=np.int64)
        found = np.where(found < 0, meaning[codes], found)
    return found.clip(min=0)
