"""TaintToleration: hard taints keep pods off a node, soft ones make it less liked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.taints import is_tolerated, keeps_off

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) had untolerated taint(s)"


class TaintToleration(FilterPlugin, ScorePlugin):
    """Filters by NoSchedule and NoExecute, scores by PreferNoSchedule.

    Source: kubernetes ``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go``.
    """

    scope = Scope.NODE
    wakes_on = frozenset({"node"})

    def skips(self, pod: PodInfo) -> bool:
        """Never: whether it matters depends on the nodes."""
        return False

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes all of whose hard taints are tolerated."""
        tolerations = pod.pod.get("spec", {}).get("tolerations") or ()
        refused = np.zeros(len(nodes), dtype=bool)
        for (key, value, effect), tainted in nodes.taints().items():
            taint = {"key": key, "value": value, "effect": effect}
            if keeps_off(taint) and not is_tolerated(taint, tolerations):
                refused |= tainted
        return Filtered(~refused, {REASON: refused}, refused)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Count the soft taints of each node that the pod does not tolerate."""
        tolerations = [row for row in pod.pod.get("spec", {}).get("tolerations") or () if soft(row)]
        counts = np.zeros(len(nodes), dtype=np.int64)
        for (key, value, effect), tainted in nodes.taints().items():
            taint = {"key": key, "value": value, "effect": effect}
            if effect == "PreferNoSchedule" and not is_tolerated(taint, tolerations):
                counts += tainted
        return counts

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn counts around: none gives `MAX_SCORE`, the most gives 0."""
        most = int(scores[feasible].max(initial=0))
        if not most:
            return np.full(len(nodes), MAX_SCORE, dtype=np.int64)
        return MAX_SCORE - scores * MAX_SCORE // most


def soft(toleration: dict[str, str]) -> bool:
    """Tell whether a toleration speaks of soft taints: by name or by not saying."""
    return toleration.get("effect", "") in {"", "PreferNoSchedule"}
