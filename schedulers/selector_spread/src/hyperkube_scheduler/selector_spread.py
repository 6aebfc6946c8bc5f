"""SelectorSpread: the pods of one service or controller go to different nodes, and to different zones above all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.labels import Selector
from hyperkube.machinery.objects import namespace_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
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
            for group in nodes.pod_groups()
            if group.namespace == namespace and not group.deleting and selector.matches(group.labels)
        )
        return per_node(like, len(nodes))

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn counts around, two thirds by zone where there are zones."""
        most = int(scores[feasible].max(initial=0))
        turned = MAX_SCORE * (most - scores) / most if most else np.full(len(nodes), float(MAX_SCORE))
        key = next((key for key in ZONES if nodes.label_exists(key).any()), "")
        if key:
            zoned = nodes.label_exists(key)
            sums, _, codes = per_domain(nodes, key, scores, feasible)
            most_in_zone = int(sums.max(initial=0))
            by_zone = MAX_SCORE * (most_in_zone - sums[codes]) / most_in_zone if most_in_zone else float(MAX_SCORE)
            turned = np.where(zoned, turned * (1.0 - ZONE_SHARE) + ZONE_SHARE * by_zone, turned)
        return np.clip(turned, 0, MAX_SCORE).astype(np.int64)

    def _selector(self, pod: PodInfo) -> Selector | None:
        if "SelectorSpread" not in pod.state:
            pod.state["SelectorSpread"] = self._owners.default_selector(pod.pod) if self._owners is not None else None
        found: Selector | None = pod.state["SelectorSpread"]
        return found


class SelectorSpreadPriority(SelectorSpread):
    """The 1.x priority of that name: the same, from 0 to 10."""

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn counts around, to 0 to 10."""
        return super().normalize(pod, nodes, scores, feasible) // 10
