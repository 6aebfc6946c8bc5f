"""What the plugins said about a template, kept and refreshed only where nodes or pods changed.

Plugins of a narrow scope are asked once per template and then about changed columns. As long as only these have a say,
the weighted sum of their scores is kept as well, so that choosing a node is a look for the greatest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hyperkube_host.scheduler.cache.columns import Columns
from hyperkube_host.scheduler.framework.schedule_result import shortened
from hyperkube_host.scheduler.metrics.point_times import CycleTimer, NoTimer

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, PodInfo, Scope, ScorePlugin

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.framework.schedule_result import Rejections, ShortScores
    from numpy.typing import NDArray

    from hyperkube.hookspecs.node_table import IntScores, Mask

Filters = Sequence[tuple[str, FilterPlugin]]
Scores = Sequence[tuple[str, ScorePlugin, int]]

NOT_FEASIBLE = -(1 << 40)
"""What a total starts from on nodes that a filter refuses: less than any scores make up for."""


class Plugins(NamedTuple):
    """A profile's filters and scores: those of a narrow scope, and those that are asked each time."""

    filters: Filters
    scores: Scores
    wide_filters: Filters
    wide_scores: Scores
    pre_filters: Filters = ()


class EquivalenceClass:
    """One template's masks and raw scores over all nodes.

    Attributes:
        filtered: plugin → its answer; plugins that skip the template are missing.
        raw: plugin → raw scores, likewise.
        feasible: the nodes that all of `filtered` keep.
        count: how many these are.
        evaluation_counts: the plugins that are asked.
        version: grows when `feasible`, or a raw score that depends on the nodes alone, changes: what is normalized
            from these is kept by it.
        weights: score plugin → weight.
        wide_filters: the plugins of the widest scope that may have something to say about the template.
        wide_scores: likewise.
        is_additive: whether all scores come from plugins whose scores on a node depend, given `feasible`, on nothing
            but that node.
        rejections: the packed rejections of `filtered`; None when these changed.
    """

    __slots__ = (
        "_filters",
        "_final_scores",
        "_node_only",
        "_pod_dependent",
        "_scores",
        "_timer",
        "_totals",
        "_totals_version",
        "count",
        "evaluation_counts",
        "feasible",
        "filtered",
        "generation",
        "is_additive",
        "node_generation",
        "normalized",
        "pre_filters",
        "raw",
        "rejections",
        "version",
        "weights",
        "wide_filters",
        "wide_scores",
    )

    def __init__(self, pod: PodInfo, nodes: Nodes, plugins: Plugins, timer: CycleTimer | None = None) -> None:
        """Ask all plugins of a narrow scope about all nodes."""
        self._timer = timer or NoTimer()
        self._filters = [(name, plugin) for name, plugin in plugins.filters if not plugin.skips_filter(pod, nodes)]
        self._scores = [row for row in plugins.scores if not row[1].skips_score(pod, nodes)]
        self.wide_filters = [row for row in plugins.wide_filters if not _always_skips(row[1], pod)]
        self.wide_scores = [row for row in plugins.wide_scores if not _always_skips(row[1], pod)]
        self.pre_filters = [row for row in plugins.pre_filters if not _always_skips(row[1], pod)]
        self.filtered: dict[str, Filtered] = {name: plugin.filter(pod, nodes) for name, plugin in self._filters}
        self.raw: dict[str, IntScores] = {name: np.array(plugin.score(pod, nodes)) for name, plugin, _ in self._scores}
        self.evaluation_counts = self._timer.evaluation_counts(self.filtered, self.raw)
        self.feasible: Mask = np.ones(len(nodes), dtype=bool)
        for answer in self.filtered.values():
            answer.mask = np.array(answer.mask)
            answer.reasons = {text: np.array(mask) for text, mask in answer.reasons.items()}
            if answer.unresolvable is not None:
                answer.unresolvable = np.array(answer.unresolvable)
            self.feasible &= answer.mask
        self.count = int(np.count_nonzero(self.feasible))
        self.version = 0
        self.normalized: dict[str, tuple[int, IntScores]] = {}
        self.rejections: Rejections | None = None
        self._node_only = [row for row in self._scores if row[1].scope is Scope.NODE]
        self._pod_dependent = [row for row in self._scores if row[1].scope is not Scope.NODE]
        self.is_additive = all(_is_not_normalized(plugin) for _, plugin, _ in self._pod_dependent)
        self._totals: tuple[IntScores, IntScores] | None = None
        self._totals_version = -1
        self._final_scores: dict[str, ShortScores] = {}
        self.weights = {name: weight for name, _, weight in self._scores}
        self.generation, self.node_generation = nodes.generation, nodes.node_generation

    def is_outdated(self, nodes: Nodes) -> bool:
        """Tell whether so much has changed that `refresh` would not be possible, now or ever."""
        changed = nodes.changed_since(self.generation)
        return changed is None or len(changed) * 2 > len(nodes) + 16

    def refresh(self, pod: PodInfo, nodes: Nodes) -> bool:
        """Ask again about what changed; tell whether that was possible, or everything must be asked anew."""
        generation, node_generation = nodes.generation, nodes.node_generation
        if generation == self.generation:
            return True
        changed = nodes.changed_since(self.generation)
        if changed is None or len(changed) * 2 > len(nodes) + 16:
            return False
        changed_nodes: Sequence[int] | None = ()
        if node_generation != self.node_generation:
            changed_nodes = nodes.nodes_changed_since(self.node_generation)
        if changed_nodes is None:
            return False
        if changed:
            part = Columns(nodes, changed)
            same = self._filter(pod, part, Scope.NODE_AND_PODS)
            pod_dependent = self._score(pod, part, Scope.NODE_AND_PODS)
            if changed_nodes:
                fewer = Columns(nodes, changed_nodes)
                same &= self._filter(pod, fewer, Scope.NODE)
                self._score(pod, fewer, Scope.NODE)
                self.version += 1
            if not same:
                self._update_feasible(part.index)
            if self._totals is not None and self._totals_version == self.version:
                node_only, total = self._totals
                total[part.index] = node_only[part.index] + pod_dependent
        self.generation, self.node_generation = generation, node_generation
        return True

    def totals(self, pod: PodInfo, nodes: Nodes) -> IntScores:
        """Return the weighted sums of all kept scores, negative where a filter refuses the node; see `is_additive`."""
        if self._totals is None or self._totals_version != self.version:
            node_only = np.where(self.feasible, 0, NOT_FEASIBLE)
            for name, plugin, weight in self._node_only:
                scores = self.scores(name, plugin, pod, nodes)
                node_only += scores * weight
                self._final_scores[name] = shortened(scores)
            total = node_only.copy()
            for name, _, weight in self._pod_dependent:
                total += self.raw[name] * weight
            self._totals, self._totals_version = (node_only, total), self.version
        return self._totals[1]

    def scores(self, name: str, plugin: ScorePlugin, pod: PodInfo, nodes: Nodes) -> IntScores:
        """Return a plugin's final scores where the nodes to choose from are `feasible`."""
        raw = self.raw[name]
        if _is_not_normalized(plugin):
            return raw
        known = self.normalized.get(name)
        if known is not None and known[0] == self.version:
            return known[1]
        scores = plugin.normalize(pod, nodes, raw, self.feasible)
        if plugin.scope is Scope.NODE:
            self.normalized[name] = (self.version, scores)
        return scores

    def final_scores(self) -> dict[str, ShortScores]:
        """Return a copy of each plugin's final scores as of the last call of `totals`, for a trace."""
        return {
            name: self._final_scores[name] if name in self._final_scores else shortened(self.raw[name])
            for name in self.raw
        }

    def _filter(self, pod: PodInfo, part: Columns, scope: Scope) -> bool:
        """Ask the filters of a scope about some columns; tell whether they keep all of these, as they did before."""
        same, timer = True, self._timer
        if timer.samples_plugins:
            timer.start_plugins()
        for name, plugin in self._filters:
            if plugin.scope is scope:
                whole, answer = self.filtered[name], plugin.filter(pod, part)
                if timer.samples_plugins:
                    timer.observe_plugin(name, "Filter", answer)
                if not (_all(answer.mask) and _all(whole.mask[part.index])):
                    _merge(whole, answer, part.index)
                    same = False
        return same

    def _score(self, pod: PodInfo, part: Columns, scope: Scope) -> IntScores | int:
        """Ask the score plugins of a scope about some columns; return the weighted sum of their raw scores there."""
        total: IntScores | int = 0
        timer = self._timer
        if timer.samples_plugins:
            timer.start_plugins()
        for name, scorer, weight in self._scores:
            if scorer.scope is scope:
                fresh = self.raw[name][part.index] = scorer.score(pod, part)
                if timer.samples_plugins:
                    timer.observe_plugin(name, "Score", fresh)
                total = total + (fresh if weight == 1 else fresh * weight)
        return total

    def _update_feasible(self, columns: NDArray[np.intp]) -> None:
        self.rejections = None
        feasible = np.ones(len(columns), dtype=bool)
        for answer in self.filtered.values():
            feasible &= answer.mask[columns]
        if (feasible != self.feasible[columns]).any():
            self.feasible[columns] = feasible
            self.count = int(np.count_nonzero(self.feasible))
            self.version += 1


def _all(mask: Mask) -> bool:
    return bool(np.count_nonzero(mask) == len(mask))


def _always_skips(plugin: FilterPlugin | ScorePlugin, pod: PodInfo) -> bool:
    return plugin.skips_by_template and plugin.skips(pod)


def _is_not_normalized(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize is ScorePlugin.normalize


def _merge(whole: Filtered, part: Filtered, columns: NDArray[np.intp]) -> None:
    whole.mask[columns] = part.mask
    for text, mask in whole.reasons.items():
        fresh = part.reasons.get(text)
        mask[columns] = False if fresh is None else fresh
    for text, fresh in part.reasons.items():
        if text not in whole.reasons:
            mask = whole.reasons[text] = np.zeros(len(whole.mask), dtype=bool)
            mask[columns] = fresh
    if part.unresolvable is not None:
        if whole.unresolvable is None:
            whole.unresolvable = np.zeros(len(whole.mask), dtype=bool)
        whole.unresolvable[columns] = part.unresolvable
    elif whole.unresolvable is not None:
        whole.unresolvable[columns] = False
