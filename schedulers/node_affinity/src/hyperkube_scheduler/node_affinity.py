"""NodeAffinity: the labels a pod asks its node to have, required (nodeSelector, affinity) or preferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term, node_affinity, required, term

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    MAX_SCORE,
    Filtered,
    FilterPlugin,
    NodeTable,
    PodInfo,
    PreFiltered,
    Scope,
    ScorePlugin,
)
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) didn't match Pod's node affinity/selector"
ENFORCED_REASON = "node(s) didn't match scheduler-enforced node affinity"
CONFLICT_REASON = "pod affinity terms conflict"


class NodeAffinity(FilterPlugin, ScorePlugin):
    """Matches node selectors on all nodes at once.

    Source: kubernetes ``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go``.
    """

    scope = Scope.NODE
    wakes_on = frozenset({"node"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        added = (context.settings.get("addedAffinity") or {}) if context is not None else {}
        rule = added.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
        self._added = tuple(rule.get("nodeSelectorTerms") or ())

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod says nothing about its node's labels."""
        spec = pod.pod.get("spec", {})
        return not self._added and not spec.get("nodeSelector") and not node_affinity(pod.pod)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Return the nodes that the required terms name, if each of them names some."""
        rule = node_affinity(pod.pod).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
        terms = rule.get("nodeSelectorTerms") or ()
        named = [_named(each) for each in terms]
        if not named or None in named:
            return None
        names = frozenset().union(*(each for each in named if each is not None))
        return PreFiltered(names=names) if names else PreFiltered(CONFLICT_REASON)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that match the settings' terms, ``nodeSelector`` and any of the required terms."""
        mask = required(pod.pod, nodes)
        reasons = {REASON: ~mask}
        if self._added:
            enforced = any_term(self._added, nodes)
            mask &= enforced
            reasons = {ENFORCED_REASON: ~enforced, REASON: enforced & reasons[REASON]}
        return Filtered(mask, {text: refused for text, refused in reasons.items() if refused.any()}, ~mask)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Sum the weights of the preferred terms that each node matches."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for preference in node_affinity(pod.pod).get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            if preference.get("weight"):
                total += preference["weight"] * term(preference.get("preference") or {}, nodes)
        return total

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Scale so that the best feasible node gets `MAX_SCORE`."""
        most = int(scores[feasible].max(initial=0))
        return scores * MAX_SCORE // most if most else scores


def _named(term: Object) -> frozenset[str] | None:
    """Return the nodes that a term names, None if it names none; several requirements must all hold."""
    rows = [
        frozenset(row.get("values") or ())
        for row in term.get("matchFields") or ()
        if row.get("key") == "metadata.name" and row.get("operator") == "In"
    ]
    return frozenset.intersection(*rows) if rows else None
