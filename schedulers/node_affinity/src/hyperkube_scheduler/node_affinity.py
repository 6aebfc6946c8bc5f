"""NodeAffinity: the labels a pod asks its node to have, required (nodeSelector, affinity) or preferred."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.node_selectors import any_term, is_broken, node_affinity, required, term

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
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) didn't match Pod's node affinity/selector"
ENFORCED_REASON = "node(s) didn't match scheduler-enforced node affinity"
CONFLICT_REASON = "pod affinity terms conflict"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinity(FilterPlugin, ScorePlugin):
    """Matches node selectors on all nodes at once.

    Settings: ``addedAffinity``, a node affinity that all pods of the profile have beside their own.
    Source: kubernetes ``pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go``.
    """

    scope = Scope.NODE
    skips_by_template = True
    events_to_register = frozenset({"node"})

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a term of the added affinity cannot be read.
        """
        super().__init__(context)
        added = (context.settings.get("addedAffinity") or {}) if context is not None else {}
        rule = added.get(REQUIRED) or {}
        self._added = tuple(rule.get("nodeSelectorTerms") or ())
        self._added_likes = tuple(added.get(PREFERRED) or ())
        _check(f"addedAffinity.{REQUIRED}.nodeSelectorTerms", self._added)
        _check(f"addedAffinity.{PREFERRED}", (row.get("preference") or {} for row in self._added_likes))

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod says nothing about its node's labels."""
        return self._demands_nothing(pod) and self._likes_nothing(pod)

    def skips_filter(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod demands nothing of its node's labels."""
        return self._demands_nothing(pod)

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no label is preferred."""
        return self._likes_nothing(pod)

    def _demands_nothing(self, pod: PodInfo) -> bool:
        selector = pod.pod.get("spec", {}).get("nodeSelector")
        return not self._added and not selector and node_affinity(pod.pod).get(REQUIRED) is None

    def _likes_nothing(self, pod: PodInfo) -> bool:
        return not self._added_likes and not node_affinity(pod.pod).get(PREFERRED)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Return the nodes that the required terms name, if each of them names some."""
        rule = node_affinity(pod.pod).get(REQUIRED) or {}
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
        """Sum the weights of the preferred terms, the pod's and the settings', that each node matches."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for preference in (*self._added_likes, *(node_affinity(pod.pod).get(PREFERRED) or ())):
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


def _check(path: str, terms: Iterable[Object]) -> None:
    for index, each in enumerate(terms):
        for number, row in enumerate(each.get("matchExpressions") or ()):
            if is_broken(row):
                raise UsageError(f"{path}[{index}].matchExpressions[{number}]: {row!r} is no requirement on labels")
