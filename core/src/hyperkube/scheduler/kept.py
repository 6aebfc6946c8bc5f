"""What the plugins of a narrow scope said about a template, kept and refreshed only where nodes or pods changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.scheduler.columns import Columns

if TYPE_CHECKING:
    from hyperkube.hookspecs.node_table import IntScores, Mask
    from hyperkube.scheduler.node_table import Nodes

Filters = Sequence[tuple[str, FilterPlugin]]
Scores = Sequence[tuple[str, ScorePlugin, int]]


class Kept:
    """One template's masks and raw scores over all nodes.

    Attributes:
        filtered: plugin → its answer; plugins that skip the template are missing.
        raw: plugin → raw scores, likewise.
        feasible: the nodes that all of `filtered` keep.
        version: grows when `feasible`, or a raw score that depends on the nodes alone, changes: what is normalized
            from these is kept by it.
    """

    __slots__ = (
        "_filters",
        "_scores",
        "feasible",
        "filtered",
        "generation",
        "node_generation",
        "normalized",
        "raw",
        "version",
    )

    def __init__(self, pod: PodInfo, nodes: Nodes, filters: Filters, scores: Scores) -> None:
        """Ask all plugins about all nodes; `filters` and `scores` are those of a narrow scope."""
        self._filters = [(name, plugin) for name, plugin in filters if not plugin.skips_filter(pod, nodes)]
        self._scores = [(name, plugin) for name, plugin, _ in scores if not plugin.skips_score(pod, nodes)]
        self.filtered: dict[str, Filtered] = {name: plugin.filter(pod, nodes) for name, plugin in self._filters}
        self.raw: dict[str, IntScores] = {name: np.array(plugin.score(pod, nodes)) for name, plugin in self._scores}
        self.feasible: Mask = np.ones(len(nodes), dtype=bool)
        for answer in self.filtered.values():
            answer.mask = np.array(answer.mask)
            answer.reasons = {text: np.array(mask) for text, mask in answer.reasons.items()}
            if answer.unresolvable is not None:
                answer.unresolvable = np.array(answer.unresolvable)
            self.feasible &= answer.mask
        self.version = 0
        self.normalized: dict[str, tuple[int, IntScores]] = {}
        self.generation, self.node_generation = nodes.generation, nodes.node_generation

    def refresh(self, pod: PodInfo, nodes: Nodes) -> bool:
        """Ask again about what changed; tell whether that was possible, or everything must be asked anew."""
        if nodes.generation == self.generation:
            return True
        changed = nodes.changed_since(self.generation)
        changed_nodes = nodes.nodes_changed_since(self.node_generation)
        if changed is None or changed_nodes is None or len(changed) * 2 > len(nodes) + 16:
            return False
        if changed:
            part = Columns(nodes, changed)
            self._ask(pod, part, changed, Scope.NODE_AND_PODS)
            if changed_nodes:
                self._ask(pod, Columns(nodes, changed_nodes), changed_nodes, Scope.NODE)
                self.version += 1
            self._settle(changed)
        self.generation, self.node_generation = nodes.generation, nodes.node_generation
        return True

    def _ask(self, pod: PodInfo, part: NodeTable, columns: Sequence[int], scope: Scope) -> None:
        for name, plugin in self._filters:
            if plugin.scope is scope:
                _merge(self.filtered[name], plugin.filter(pod, part), columns)
        for name, scorer in self._scores:
            if scorer.scope is scope:
                self.raw[name][columns] = scorer.score(pod, part)

    def _settle(self, columns: Sequence[int]) -> None:
        feasible = np.ones(len(columns), dtype=bool)
        for answer in self.filtered.values():
            feasible &= answer.mask[columns]
        if not np.array_equal(feasible, self.feasible[columns]):
            self.feasible[columns] = feasible
            self.version += 1


def _merge(whole: Filtered, part: Filtered, columns: Sequence[int]) -> None:
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
