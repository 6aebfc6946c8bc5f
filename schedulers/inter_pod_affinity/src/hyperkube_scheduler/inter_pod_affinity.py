"""InterPodAffinity: near to some pods, far from others; pods that are placed already have a say too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import (
    MAX_SCORE,
    Filtered,
    FilterPlugin,
    NodeTable,
    PodCounts,
    PodInfo,
    PreFiltered,
    ScorePlugin,
)
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.labels import IN, NOT_IN, Requirement, Selector, SelectorError, from_label_selector
from hyperkube.machinery.objects import Object, labels_of, namespace_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

AFFINITY_REASON = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY_REASON = "node(s) didn't match pod anti-affinity rules"
EXISTING_REASON = "node(s) didn't satisfy existing pods anti-affinity rules"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
KINDS_OF_TERMS = (
    ("requiredAffinityTerms", "podAffinity", REQUIRED),
    ("requiredAntiAffinityTerms", "podAntiAffinity", REQUIRED),
    ("preferredAffinityTerms", "podAffinity", PREFERRED),
    ("preferredAntiAffinityTerms", "podAntiAffinity", PREFERRED),
)
"""The terms of a pod, by the words of upstream's messages."""
SYNC_SECONDS = 5.0
BEST_OF_OLD = 10
"""The greatest score of 1.x."""

NamespaceLabels = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Term:
    """One affinity term, ready to be matched; `weight` is 0 for required ones."""

    namespaces: frozenset[str]
    namespace_selector: Selector | None
    selector: Selector
    key: str
    weight: int = 0

    def matches(self, namespace: str, labels: Mapping[str, str], namespace_labels: NamespaceLabels) -> bool:
        """Tell whether the term speaks of a pod of that namespace and these labels."""
        chosen = namespace in self.namespaces
        if not chosen and self.namespace_selector is not None:
            chosen = self.namespace_selector.is_empty or self.namespace_selector.matches(namespace_labels(namespace))
        return chosen and self.selector.matches(labels)


def term_of(row: Object, namespace: str, labels: Mapping[str, str], weight: int = 0) -> Term:
    """Return the term of a pod with that namespace and these labels."""
    selector = from_label_selector(row.get("labelSelector"))
    more = [
        Requirement(key, operator, (labels[key],))
        for field, operator in (("matchLabelKeys", IN), ("mismatchLabelKeys", NOT_IN))
        for key in row.get(field) or ()
        if key in labels
    ]
    if more:
        selector = selector.with_requirements(*more)
    wanted = row.get("namespaceSelector")
    named = frozenset(row.get("namespaces") or ())
    if not named and wanted is None:
        named = frozenset({namespace})
    chosen = from_label_selector(wanted) if wanted is not None else None
    return Term(named, chosen, selector, row["topologyKey"], weight)


def terms_of(affinity: Object, kind: str, rule: str, namespace: str, labels: Mapping[str, str]) -> list[Term]:
    """Return the terms of ``podAffinity`` or ``podAntiAffinity``, required or preferred."""
    rows = (affinity.get(kind) or {}).get(rule) or ()
    if rule == REQUIRED:
        return [term_of(row, namespace, labels) for row in rows]
    return [term_of(row["podAffinityTerm"], namespace, labels, int(row["weight"])) for row in rows]


class InterPodAffinity(FilterPlugin, ScorePlugin):
    """Counts matching pods per topology domain, for all nodes at once.

    Settings: ``hardPodAffinityWeight`` (1), ``ignorePreferredTermsOfExistingPods`` (false).
    Source: kubernetes ``pkg/scheduler/framework/plugins/interpodaffinity/`` (filtering.go, scoring.go).
    """

    events_to_register = frozenset({"node", "pod", "pod gone"})

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a weight outside 0 to 100.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._hard_weight = int(settings.get("hardPodAffinityWeight", 1))
        if not 0 <= self._hard_weight <= MAX_SCORE:
            raise UsageError(f"hardPodAffinityWeight: {self._hard_weight} is not in the range 0-100")
        self._ignore_preferred = bool(settings.get("ignorePreferredTermsOfExistingPods"))

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Tell that a term of the pod cannot be read."""
        affinity = _affinity(pod.pod)
        for word, kind, rule in KINDS_OF_TERMS if affinity else ():
            try:
                terms_of(affinity, kind, rule, namespace_of(pod.pod), labels_of(pod.pod))
            except SelectorError as error:
                return PreFiltered(f"parsing pod: {word}: {error}")
        return None

    def skips_filter(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that neither the pod nor one that is placed requires anything."""
        affinity = _affinity(pod.pod)
        own = affinity and any((affinity.get(kind) or {}).get(REQUIRED) for kind in ("podAffinity", "podAntiAffinity"))
        return not own and not any(
            (group.affinity.get("podAntiAffinity") or {}).get(REQUIRED)
            for group in nodes.pod_counts(with_affinity=True)
        )

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that neither the pod nor one that is placed prefers anything."""
        affinity = _affinity(pod.pod)
        own = affinity and any((affinity.get(kind) or {}).get(PREFERRED) for kind in ("podAffinity", "podAntiAffinity"))
        return not own and (self._ignore_preferred or not nodes.pod_counts(with_affinity=True))

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that fulfil the pod's required terms, and those of the pods that are placed."""
        affinity, namespace, labels = _affinity(pod.pod), namespace_of(pod.pod), labels_of(pod.pod)
        near = terms_of(affinity, "podAffinity", REQUIRED, namespace, labels)
        far = terms_of(affinity, "podAntiAffinity", REQUIRED, namespace, labels)
        feasible = self._near(near, namespace, labels, nodes)
        reasons = {AFFINITY_REASON: ~feasible}
        unresolvable = ~feasible
        apart = np.ones(len(nodes), dtype=bool)
        for term in far:
            apart &= ~_in_domain(nodes, term.key, self._counted([term], nodes))
        reasons[ANTI_AFFINITY_REASON] = feasible & ~apart
        feasible &= apart
        unwelcome = self._unwelcome(namespace, labels, nodes)
        reasons[EXISTING_REASON] = feasible & unwelcome
        feasible &= ~unwelcome
        return Filtered(feasible, {text: mask for text, mask in reasons.items() if mask.any()}, unresolvable)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Sum the weights of matching pods in each node's domains; may be negative."""
        affinity, namespace, labels = _affinity(pod.pod), namespace_of(pod.pod), labels_of(pod.pod)
        weighted: dict[str, IntScores] = {}

        def add(key: str, counts: IntScores, weight: int) -> None:
            if weight:
                weighted[key] = weighted.get(key, 0) + counts * weight

        for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
            for term in terms_of(affinity, kind, PREFERRED, namespace, labels):
                add(term.key, self._counted([term], nodes), sign * term.weight)
        for group in nodes.pod_counts(with_affinity=True):
            for term, weight in self._opinions(group, ignore=self._ignore_preferred and not affinity):
                if term.matches(namespace, labels, self._namespace_labels):
                    add(term.key, per_node([group], len(nodes)), weight)
        total = np.zeros(len(nodes), dtype=np.int64)
        for key, counts in weighted.items():
            sums, _, codes = per_domain(nodes, key, counts)
            total += sums[codes]
        return total

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Stretch the feasible nodes' scores over 0 to `MAX_SCORE`; all alike give 0."""
        seen = scores[feasible]
        least, most = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
        if least == most:
            return np.zeros(len(nodes), dtype=np.int64)
        stretched = MAX_SCORE * ((scores - least) / (most - least))
        return np.where(feasible, stretched, 0).astype(np.int64)

    def _near(self, terms: Sequence[Term], namespace: str, labels: Mapping[str, str], nodes: NodeTable) -> Mask:
        """Return the nodes near to pods that match all terms; the first of a kind that likes itself may go anywhere."""
        feasible = np.ones(len(nodes), dtype=bool)
        if not terms:
            return feasible
        counts = self._counted(terms, nodes)
        labelled = np.ones(len(nodes), dtype=bool)
        found = False
        for term in terms:
            labelled &= nodes.label_exists(term.key)
            near = _in_domain(nodes, term.key, counts)
            found = found or bool(near.any())
            feasible &= near
        if not found and all(term.matches(namespace, labels, self._namespace_labels) for term in terms):
            return labelled
        return feasible

    def _unwelcome(self, namespace: str, labels: Mapping[str, str], nodes: NodeTable) -> Mask:
        refused = np.zeros(len(nodes), dtype=bool)
        for group in nodes.pod_counts(with_affinity=True):
            for term in self._terms_of_group(group, "podAntiAffinity", REQUIRED):
                if term.matches(namespace, labels, self._namespace_labels):
                    refused |= _in_domain(nodes, term.key, per_node([group], len(nodes)))
        return refused

    def _opinions(self, group: PodCounts, *, ignore: bool) -> Iterable[tuple[Term, int]]:
        if self._hard_weight:
            for term in self._terms_of_group(group, "podAffinity", REQUIRED):
                yield term, self._hard_weight
        if ignore:
            return
        for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1)):
            for term in self._terms_of_group(group, kind, PREFERRED):
                yield term, sign * term.weight

    def _terms_of_group(self, group: PodCounts, kind: str, rule: str) -> list[Term]:
        return terms_of(group.affinity, kind, rule, group.namespace, group.labels)

    def _counted(self, terms: Sequence[Term], nodes: NodeTable) -> IntScores:
        """Return how many pods on each node match all the terms."""
        groups = [
            group
            for group in nodes.pod_counts()
            if all(term.matches(group.namespace, group.labels, self._namespace_labels) for term in terms)
        ]
        return per_node(groups, len(nodes))

    def _namespace_labels(self, namespace: str) -> Mapping[str, str]:
        if self.context is None or self.context.informers is None:
            return {}
        informer = self.context.informers.informer(NAMESPACES)
        informer.wait_synced(SYNC_SECONDS)
        return labels_of(informer.get("", namespace) or {})


class InterPodAffinityPriority(InterPodAffinity):
    """The 1.x priority of that name: the same from 0 to 10, where a node that no term matches counts as zero."""

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Stretch the feasible nodes' scores and 0 over 0 to 10.

        Source: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/interpod_affinity.go``.
        """
        least, most = int(scores[feasible].min(initial=0)), int(scores[feasible].max(initial=0))
        if least == most:
            return np.zeros(len(nodes), dtype=np.int64)
        return np.where(feasible, BEST_OF_OLD * ((scores - least) / (most - least)), 0).astype(np.int64)


def _affinity(pod: Object) -> Object:
    affinity: Object = pod.get("spec", {}).get("affinity") or {}
    return affinity


def _in_domain(nodes: NodeTable, key: str, counts: IntScores) -> Mask:
    """Return the nodes in whose domain of `key` anything is counted."""
    sums, _, codes = per_domain(nodes, key, counts)
    return (sums > 0)[codes]
