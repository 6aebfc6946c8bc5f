"""SelectorSpread: the pods of one service or controller go to different nodes, and to different zones above all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_node

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import namespace_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask

ZONES = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGIONS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
ZONE_SHARE = 2.0 / 3.0
"""How much zones count against nodes."""


class SelectorSpread(ScorePlugin):
    """Counts like pods per node and per zone; the fewest score `MAX_SCORE`.

    Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/selectorspread/selector_spread.go``.
    """

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        informers = context.informers if context is not None else None
        self._owners = Owners(informers) if informers is not None else None

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod spreads by constraints of its own, or belongs to nothing."""
        return bool(pod.pod.get("spec", {}).get("topologySpreadConstraints")) or self._selector(pod) is None

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return how many like pods each node has."""
        selector, namespace = self._selector(pod), namespace_of(pod.pod)
        if selector is None:
            return np.zeros(len(nodes), dtype=np.int64)
        like = (
            group
            for group in nodes.pod_counts()
            if group.namespace == namespace and not group.deleting and selector.matches(group.labels)
        )
        return per_node(like, len(nodes))

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn counts around, two thirds by zone where there are zones."""
        most = int(scores[feasible].max(initial=0))
        turned = MAX_SCORE * (most - scores) / most if most else np.full(len(nodes), float(MAX_SCORE))
        zones = _zones(nodes)
        zoned = zones > 0
        if (zoned & feasible).any():
            seen = zoned & feasible
            sums = np.bincount(zones[seen], weights=scores[seen], minlength=int(zones.max()) + 1).astype(np.int64)
            most_in_zone = int(sums.max(initial=0))
            by_zone = MAX_SCORE * (most_in_zone - sums[zones]) / most_in_zone if most_in_zone else float(MAX_SCORE)
            turned = np.where(zoned, turned * (1.0 - ZONE_SHARE) + ZONE_SHARE * by_zone, turned)
        return np.clip(turned, 0, MAX_SCORE).astype(np.int64)

    def _selector(self, pod: PodInfo) -> Selector | None:
        if "SelectorSpread" not in pod.state:
            pod.state["SelectorSpread"] = self._owners.default_selector(pod.pod) if self._owners is not None else None
        found: Selector | None = pod.state["SelectorSpread"]
        return found


def _zones(nodes: NodeTable) -> NDArray[np.int64]:
    """Return each node's zone of its region as a number, 0 for none; a label's old name goes before its new one."""
    regions, zones = _numbers(nodes, REGIONS), _numbers(nodes, ZONES)
    return regions * (int(zones.max(initial=0)) + 1) + zones


def _numbers(nodes: NodeTable, keys: Sequence[str]) -> NDArray[np.int64]:
    """Number the values of the first of these labels that each node has; 0 for none, or an empty one."""
    known: dict[str, int] = {"": 0}
    found = np.zeros(len(nodes), dtype=np.int64)
    for key in reversed(keys):
        codes, values = nodes.label_codes(key)
        numbers = np.array([*(known.setdefault(value, len(known)) for value in values), 0], dtype=np.int64)
        found = np.where(codes >= 0, numbers[codes], found)
    return found
