"""PodTopologySpread: keep the numbers of like pods in all domains of a topology close to one another."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from hyperkube_lib.scheduling.node_selectors import required, tolerated
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.labels import IN, Requirement, Selector, from_label_selector
from hyperkube.machinery.objects import Object, labels_of, namespace_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) didn't match pod topology spread constraints"
LABEL_REASON = f"{REASON} (missing required label)"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
TEMPLATES = 1024
"""Templates whose pods' services and controllers are remembered."""
HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"
STATE = {when: f"PodTopologySpread/{when}" for when in (HARD, SOFT)}
"""Where a cycle keeps the constraints of each kind."""
COUNTS = "PodTopologySpread/counts"
"""Where a cycle keeps the numbers of like pods by selector: (table, its generation, selector → numbers)."""
SYSTEM_DEFAULTS: tuple[Object, ...] = (
    {"topologyKey": HOSTNAME, "maxSkew": 3, "whenUnsatisfiable": SOFT},
    {"topologyKey": ZONE, "maxSkew": 5, "whenUnsatisfiable": SOFT},
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint, ready to be counted."""

    key: str
    max_skew: int
    min_domains: int
    selector: Selector
    honor_affinity: bool
    honor_taints: bool


class PodTopologySpread(FilterPlugin, ScorePlugin):
    """Filters by hard constraints, scores by soft ones, for all nodes at once.

    Settings: ``defaultConstraints`` and ``defaultingType`` (``System`` or ``List``).
    Source: kubernetes ``pkg/scheduler/framework/plugins/podtopologyspread/`` (filtering.go, scoring.go, common.go).
    """

    events_to_register = frozenset({"node", "node gone", "pod", "pod gone"})

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: an unknown defaulting type, or constraints beside ``System``.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        kind = settings.get("defaultingType") or ("List" if settings.get("defaultConstraints") else "System")
        if kind not in {"System", "List"}:
            raise UsageError(f"defaultingType: {kind!r} is neither 'System' nor 'List'")
        if kind == "System" and settings.get("defaultConstraints"):
            raise UsageError("defaultConstraints: must be empty with defaultingType 'System'")
        informers = context.informers if context is not None else None
        self._owners = Owners(informers) if informers is not None else None
        self._selectors: OrderedDict[str, tuple[int, Selector | None]] = OrderedDict()
        self._system = kind == "System"
        defaults = SYSTEM_DEFAULTS if self._system else tuple(settings.get("defaultConstraints") or ())
        self._defaults: Mapping[str, Sequence[Object]] = {
            when: [row for row in defaults if row.get("whenUnsatisfiable", HARD) == when] for when in (HARD, SOFT)
        }

    def skips_filter(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod has no hard constraint."""
        return not self.constraints(pod, HARD)

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that the pod has no soft constraint."""
        return not self.constraints(pod, SOFT)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where one more pod leaves every skew within its limit."""
        constraints = self.constraints(pod, HARD)
        left = np.ones(len(nodes), dtype=bool)
        labelled = with_all_keys(nodes, constraints)
        missing, skewed = np.zeros_like(left), np.zeros_like(left)
        for constraint in constraints:
            has = nodes.label_exists(constraint.key)
            missing |= left & ~has
            left &= has
            sums, there, codes = like_pods(pod, nodes, constraint, labelled)
            domains = int(there.sum())
            least = int(sums[there].min()) if domains and domains >= constraint.min_domains else 0
            own = int(constraint.selector.matches(labels_of(pod.pod)))
            over = left & (sums[codes] + own - least > constraint.max_skew)
            skewed |= over
            left &= ~over
        reasons = {text: mask for text, mask in ((LABEL_REASON, missing), (REASON, skewed)) if mask.any()}
        return Filtered(left, reasons, missing)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return zeros: what counts depends on the feasible nodes, so `normalize` does it all."""
        return np.zeros(len(nodes), dtype=np.int64)

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Score by the weighted numbers of like pods in each node's domains, the fewest giving `MAX_SCORE`."""
        constraints = self.constraints(pod, SOFT)
        strict = bool(pod.pod.get("spec", {}).get("topologySpreadConstraints")) or not self._system
        labelled = with_all_keys(nodes, constraints) if strict else np.ones(len(nodes), dtype=bool)
        scored = feasible & labelled
        total = np.zeros(len(nodes), dtype=np.float64)
        for constraint in constraints:
            has = nodes.label_exists(constraint.key)
            if constraint.key == HOSTNAME:
                size, numbers = int(scored.sum()), _counts(pod, nodes, constraint)
            else:
                codes, _ = nodes.label_codes(constraint.key)
                candidates = np.unique(codes[scored])
                size = len(candidates)
                sums, _, codes = like_pods(pod, nodes, constraint, labelled)
                numbers = sums[codes]
            total += np.where(has, numbers * np.log(size + 2) + (constraint.max_skew - 1), 0.0)
        raw = np.floor(total + 0.5).astype(np.int64)
        seen = raw[scored]
        least, most = (int(seen.min()), int(seen.max())) if len(seen) else (0, 0)
        if not most:
            return np.where(scored, MAX_SCORE, 0).astype(np.int64)
        return np.where(scored, MAX_SCORE * (most + least - raw) // most, 0).astype(np.int64)

    def constraints(self, pod: PodInfo, when: str) -> list[Constraint]:
        """Return the pod's constraints of a kind, or the usual ones; read once a cycle."""
        own = pod.pod.get("spec", {}).get("topologySpreadConstraints")
        usual = self._defaults[when]
        selector = self._selector(pod) if usual and not own else None
        if not own and selector is None:
            return []
        key = STATE[when]
        found: list[Constraint] | None = pod.state.get(key)
        if found is None:
            labels, rows = (labels_of(pod.pod), own) if own else ({}, usual)
            rows = [row for row in rows if row.get("whenUnsatisfiable", HARD) == when]
            found = pod.state[key] = [constraint(row, labels, selector) for row in rows]
        return found

    def _selector(self, pod: PodInfo) -> Selector | None:
        """Return what selects the pods of this pod's services and controller; the same until one of these changes."""
        if self._owners is None:
            return None
        version = self._owners.version
        known = self._selectors.get(pod.template_key)
        if known is None or known[0] != version:
            known = self._selectors[pod.template_key] = (version, self._owners.default_selector(pod.pod))
            if len(self._selectors) > TEMPLATES:
                self._selectors.popitem(last=False)
        return known[1]


def constraint(row: Object, labels: Mapping[str, str], selector: Selector | None = None) -> Constraint:
    """Read one constraint of a pod with these labels."""
    if selector is None:
        selector = from_label_selector(row.get("labelSelector"))
        more = [Requirement(key, IN, (labels[key],)) for key in row.get("matchLabelKeys") or () if key in labels]
        selector = selector.with_requirements(*more) if more else selector
    return Constraint(
        row["topologyKey"],
        int(row["maxSkew"]),
        int(row.get("minDomains") or 1),
        selector,
        row.get("nodeAffinityPolicy", "Honor") == "Honor",
        row.get("nodeTaintsPolicy", "Ignore") == "Honor",
    )


def with_all_keys(nodes: NodeTable, constraints: Sequence[Constraint]) -> Mask:
    """Return which nodes have all the constraints' keys as labels: others' pods count for none of them."""
    mask = np.ones(len(nodes), dtype=bool)
    for each in constraints:
        mask &= nodes.label_exists(each.key)
    return mask


def like_pods(
    pod: PodInfo, nodes: NodeTable, each: Constraint, labelled: Mask
) -> tuple[IntScores, Mask, NDArray[np.int32]]:
    """Count a constraint's pods in each domain, as `per_domain` does, on labelled nodes its policies let in."""
    counts = _counts(pod, nodes, each)
    return per_domain(nodes, each.key, counts, labelled & _included(pod.pod, nodes, each))


def _included(pod: Object, nodes: NodeTable, each: Constraint) -> Mask:
    mask = required(pod, nodes) if each.honor_affinity else np.ones(len(nodes), dtype=bool)
    return mask & tolerated(pod, nodes) if each.honor_taints else mask


def _counts(pod: PodInfo, nodes: NodeTable, each: Constraint) -> IntScores:
    if each.selector.is_empty:
        return np.zeros(len(nodes), dtype=np.int64)  # Kubernetes' own choice, though a pod still counts itself
    # The usual constraints have one selector: the second one is not matched against all groups again.
    known = pod.state.get(COUNTS)
    if known is None or known[0] is not nodes or known[1] != nodes.generation:
        known = pod.state[COUNTS] = (nodes, nodes.generation, {})
    by_selector: dict[Selector, IntScores] = known[2]
    counts = by_selector.get(each.selector)
    if counts is None:
        like = (
            group
            for group in nodes.pod_counts(namespace=namespace_of(pod.pod))
            if not group.deleting and each.selector.matches(group.labels)
        )
        counts = by_selector[each.selector] = per_node(like, len(nodes))
        counts.flags.writeable = False
    return counts
