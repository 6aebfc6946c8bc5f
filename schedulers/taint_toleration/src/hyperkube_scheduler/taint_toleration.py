"""TaintToleration: hard taints keep pods off a node, soft ones make it less liked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.taints import is_tolerated, keeps_off
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) had untolerated taint(s)"
GATE = "TaintTolerationComparisonOperators"
COMPARISONS = frozenset({"Gt", "Lt"})
_INTEGER = re.compile(r"(0|-?[1-9][0-9]*)", re.ASCII)


class TaintToleration(FilterPlugin, ScorePlugin):
    """Filters by NoSchedule and NoExecute, scores by PreferNoSchedule.

    Tolerations that compare numbers count unless the gate ``TaintTolerationComparisonOperators`` is set to false.
    Source: kubernetes ``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go``.
    """

    scope = Scope.NODE
    events_to_register = frozenset({"node"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._compares = context is None or context.gates.get(GATE, True)

    def skips(self, pod: PodInfo) -> bool:
        """Never: whether it matters depends on the nodes."""
        return False

    def _tolerations(self, pod: PodInfo) -> list[Object]:
        rows = pod.pod.get("spec", {}).get("tolerations") or ()
        return [row for row in rows if self._compares or row.get("operator") not in COMPARISONS]

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes all of whose hard taints are tolerated.

        A node that only has taints which tolerations would compare with, but which are no numbers, is told of these.
        """
        tolerations = self._tolerations(pod)
        refused = np.zeros(len(nodes), dtype=bool)
        unreadable: dict[str, Mask] = {}
        for (key, value, effect), tainted in nodes.taints().items():
            taint = {"key": key, "value": value, "effect": effect}
            if not keeps_off(taint) or is_tolerated(taint, tolerations):
                continue
            wrong = _unreadable(taint, tolerations)
            if wrong:
                unreadable[wrong] = unreadable[wrong] | tainted if wrong in unreadable else tainted
            else:
                refused |= tainted
        reasons = {REASON: refused.copy()}
        for text, tainted in unreadable.items():
            reasons[text] = tainted & ~refused
            refused |= tainted
        return Filtered(~refused, reasons, refused)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Count the soft taints of each node that the pod does not tolerate."""
        tolerations = [row for row in self._tolerations(pod) if soft(row)]
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


def _unreadable(taint: Object, tolerations: Iterable[Object]) -> str:
    """Return why a toleration that would compare with the taint cannot, or the empty string."""
    for row in tolerations:
        if row.get("operator") not in COMPARISONS or row.get("key") not in {None, "", taint["key"]}:
            continue
        if row.get("effect") not in {None, "", taint["effect"]}:
            continue
        for what, value in (("toleration", row.get("value", "")), ("taint", taint["value"])):
            if not _INTEGER.fullmatch(value):
                said = "must be a valid decimal integer in canonical form"
                return f'failed to parse {what} value "{value}" as int64: {said}'
    return ""


def soft(toleration: dict[str, str]) -> bool:
    """Tell whether a toleration speaks of soft taints: by name or by not saying."""
    return toleration.get("effect", "") in {"", "PreferNoSchedule"}
