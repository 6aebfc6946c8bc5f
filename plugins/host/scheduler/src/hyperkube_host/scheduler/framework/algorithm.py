"""One pod's cycle: filter all nodes, score those that are left, choose the best. Pure: no clock, no API.

What plugins of a narrow scope say is kept per template and refreshed where nodes or pods changed (`kept`), so that the
usual decision asks about the few nodes that were bound to since this template's last turn.
"""

from __future__ import annotations

from collections import OrderedDict
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from hyperkube_host.scheduler.framework.rejections import first_refusals
from hyperkube_host.scheduler.framework.schedule_result import Decision, Trace, packed, shortened
from hyperkube_host.scheduler.metrics.point_times import Laps, NoLaps

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, SchedulingPlugin, Scope, ScorePlugin
from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.cache.pod_info import QueuedPod
    from hyperkube_host.scheduler.framework.equivalence_cache import Filters, Kept, Scores
    from hyperkube_host.scheduler.framework.schedule_result import ShortScores

    from hyperkube.hookspecs.scheduling import IntScores, Mask

KEPT_CELLS = 400_000
"""Nodes times templates whose answers are kept: about 20 bytes per cell and plugin."""


class Survey(NamedTuple):
    """What filtering said about all nodes."""

    feasible: Mask
    refusals: dict[str, Filtered]


class Algorithm:
    """Filters and scores with one profile's plugins."""

    def __init__(
        self,
        filters: Filters,
        scores: Scores,
        random: Random,
        laps: Laps | None = None,
        *,
        checks_all: bool = False,
    ) -> None:
        """Take the plugins by name, score plugins with their weights.

        What plugins of a narrow scope are asked anew for the kept answers counts as filtering in `laps`. With
        `checks_all` every filter's reason is told for a node, not only the first one's.
        """
        self._checks_all = checks_all
        self._filters = tuple(filters)
        self._scores = tuple(scores)
        wide = [row for row in filters if row[1].scope is Scope.CLUSTER]
        self._near_filters = [row for row in filters if row[1].scope is not Scope.CLUSTER]
        self._near_scores = [row for row in scores if row[1].scope is not Scope.CLUSTER]
        self._wide_filters = [row for row in wide if not row[1].remote]
        self._wide_scores = [row for row in scores if row[1].scope is Scope.CLUSTER]
        self._remote_filters = [row for row in wide if row[1].remote]
        self._pre_filters = [row for row in filters if type(row[1]).pre_filter is not FilterPlugin.pre_filter]
        near: list[SchedulingPlugin] = [plugin for _, plugin in self._near_filters]
        near += [plugin for _, plugin, _ in self._near_scores]
        self._stamped = [plugin for plugin in near if type(plugin).stamp is not SchedulingPlugin.stamp]
        self._stamps: list[int] = []
        self._random = random
        self._laps: Laps = laps or NoLaps()
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def survey(self, pod: QueuedPod, nodes: Nodes) -> Survey | None:
        """Filter only, as the table is now: for a table with guests that may come or not."""
        if not len(nodes):
            return None
        outside: dict[str, Filtered] = {}
        if self._pre_filters and self._pre_filter(pod, nodes, outside) is not None:
            return None
        feasible, answers = self._asked(pod, nodes, self._refreshed(pod, nodes), outside)
        return Survey(feasible.copy(), self._refusals(answers, feasible, outside))

    def decide(
        self, pod: QueuedPod, nodes: Nodes, survey: Survey | None = None, nominated: NodeName | None = None
    ) -> Decision:
        """Choose a node for a pod; the caller holds the table's lock.

        Args:
            pod: the pod.
            nodes: the table.
            survey: what was refused when pods were on it that are expected there: a node must do with and without.
            nominated: where room was made for the pod; taken without a look at the others if it fits.
        """
        if not len(nodes):
            return Decision(None, Trace((), {}, {}, {}))
        self._laps.begin()
        outside: dict[str, Filtered] = {}
        if self._pre_filters:
            self._laps.mark()
            nowhere = self._pre_filter(pod, nodes, outside)
            self._laps.lap("PreFilter", "Unschedulable" if nowhere is not None else "Success")
            if nowhere is not None:
                return nowhere
        kept = self._refreshed(pod, nodes)
        kept.votes.filtered += 1
        if survey is None and nominated is None and not outside and self._is_settled(kept, pod, nodes):
            return self._decide_settled(pod, nodes, kept)
        feasible, answers = self._asked(pod, nodes, kept, outside)
        if survey is not None:
            outside, feasible = survey.refusals, feasible & survey.feasible
        column = None if nominated is None else nodes.index_of(nominated)
        if column is not None and feasible[column]:
            answers, feasible = self._alone(pod, nodes, column, answers, feasible)
        elif self._remote_filters:
            answers, feasible = self._ask_remote(pod, nodes, feasible, answers, feasible)
        refusals = self._refusals(answers, feasible, outside)
        names = nodes.names_now()
        count = int(feasible.sum())
        self._laps.lap("Filter", "Success" if count else "Unschedulable")
        if not count:
            return Decision(None, Trace(names, packed(refusals), {}, {}), refusals)
        if count == 1:
            return Decision(names[int(feasible.argmax())], Trace(names, packed(refusals), {}, {}))
        total, scores, weights = self._score(pod, nodes, kept, feasible)
        self._laps.lap("Score", "Success")
        return Decision(names[self._best(total)], Trace(names, packed(refusals), scores, weights))

    def _is_settled(self, kept: Kept, pod: QueuedPod, nodes: Nodes) -> bool:
        """Tell whether what is kept of the template says everything about this pod, and some node fits."""
        if not kept.count or not kept.adds_up:
            return False
        for filters in (kept.wide_filters, self._remote_filters):
            for _, plugin in filters:
                if not plugin.skips_filter(pod, nodes):
                    return False
        return all(plugin.skips_score(pod, nodes) for _, plugin, _ in kept.wide_scores)

    def _decide_settled(self, pod: QueuedPod, nodes: Nodes, kept: Kept) -> Decision:
        if kept.refusals is None:
            kept.refusals = packed(self._refusals(kept.filtered, kept.feasible, {}))
        names = nodes.names_now()
        self._laps.lap("Filter", "Success")
        if kept.count == 1:
            return Decision(names[int(kept.feasible.argmax())], Trace(names, kept.refusals, {}, {}))
        kept.votes.scored += 1
        total = kept.totals(pod, nodes)
        chosen = self._best(total)
        self._laps.lap("Score", "Success")
        return Decision(names[chosen], Trace(names, kept.refusals, kept.told(), kept.weights))

    def fits(self, pod: QueuedPod, nodes: Nodes, index: int) -> bool:
        """Tell whether all filters keep one node, asked anew; what they know without the nodes does not change."""
        return self._refusal(pod, nodes, index) is None

    def why_not(self, pod: QueuedPod, nodes: Nodes, index: int) -> list[str]:
        """Return what the first filter that refuses a node says of it; empty if all keep it."""
        return self._refusal(pod, nodes, index) or []

    def _refusal(self, pod: QueuedPod, nodes: Nodes, index: int) -> list[str] | None:
        from hyperkube_host.scheduler.cache.columns import Columns

        part = Columns(nodes, [index])
        for filters, table, column in ((self._near_filters, part, 0), (self._wide_filters, nodes, index)):
            for _, plugin in filters:
                if not plugin.skips_filter(pod, nodes):
                    said = plugin.filter(pod, table)
                    if not said.mask[column]:
                        return [reason for reason, mask in said.reasons.items() if mask[column]]
        return None

    def _asked(
        self, pod: QueuedPod, nodes: Nodes, kept: Kept, outside: dict[str, Filtered]
    ) -> tuple[Mask, dict[str, Filtered]]:
        """Ask all filters of this process; return the feasible nodes and all answers."""
        feasible, answers = kept.feasible, kept.filtered
        for each in outside.values():
            feasible = feasible & each.mask
        if self._checks_all or feasible.any():
            wide = self._ask_wide(pod, nodes, kept.wide_filters)
            if wide:
                feasible = feasible.copy()
                for answer in wide.values():
                    feasible &= answer.mask
                answers = {name: (wide.get(name) or answers.get(name)) for name, _ in self._filters}  # type: ignore[misc]  # Nones go below
                answers = {name: answer for name, answer in answers.items() if answer is not None}
        return feasible, answers

    def _alone(
        self, pod: QueuedPod, nodes: Nodes, column: int, answers: dict[str, Filtered], feasible: Mask
    ) -> tuple[dict[str, Filtered], Mask]:
        """Look at one feasible node only; at all the others if a remote filter refuses it."""
        from hyperkube_host.scheduler.framework.subset import only

        alone = only(column, len(nodes))
        answers, left = self._ask_remote(pod, nodes, alone, answers, feasible)
        return (answers, alone) if left[column] else self._ask_remote(pod, nodes, left, answers, left)

    def _ask_remote(
        self, pod: QueuedPod, nodes: Nodes, about: Mask, answers: dict[str, Filtered], feasible: Mask
    ) -> tuple[dict[str, Filtered], Mask]:
        """Ask the filters that ask others about some of the feasible nodes; return all answers and what is left."""
        from hyperkube_host.scheduler.framework.subset import about_some

        for name, plugin in self._remote_filters:
            asked = feasible & about
            if asked.any() and not plugin.skips_filter(pod, nodes):
                answer = about_some(plugin, pod, nodes, asked)
                answers, feasible = {**answers, name: answer}, feasible & answer.mask
        return answers, feasible

    def _refusals(
        self, answers: dict[str, Filtered], feasible: Mask, outside: dict[str, Filtered]
    ) -> dict[str, Filtered]:
        if self._checks_all and not outside:
            return {name: answer for name, answer in answers.items() if not answer.mask.all()}
        return first_refusals(answers, len(feasible), feasible, outside)

    def _pre_filter(self, pod: QueuedPod, nodes: Nodes, outside: dict[str, Filtered]) -> Decision | None:
        """Ask what filters know without the nodes; put what the others are left out by into `outside`.

        Upstream's texts: kubernetes ``pkg/scheduler/framework/runtime/framework.go`` (RunPreFilterPlugins).
        """
        import numpy as np

        names: frozenset[str] | None = None
        plugins: list[str] = []
        known = self._kept.get(pod.template_key)
        for plugin, each in self._pre_filters if known is None else known.pre_filters:
            said = each.pre_filter(pod)
            if self._laps.samples:
                self._laps.note(plugin, "PreFilter", said)
            if said is None:
                continue
            self._laps.evaluated((plugin,), "PreFilter")
            if said.reason:
                return self._nowhere(plugin, said.reason, nodes)
            if said.names is not None:
                names = said.names if names is None else names & said.names
                plugins.append(plugin)
                if not names:
                    who = f"(s) [{' '.join(plugins)}] simultaneously" if plugins[1:] else f" {plugins[0]}"
                    return self._nowhere(plugin, f"node(s) didn't satisfy plugin{who}", nodes)
        if names is not None:
            mask = np.zeros(len(nodes), dtype=bool)
            for name in names:
                index = nodes.index_of(NodeName(name))
                if index is not None:
                    mask[index] = True
            text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"
            outside[plugins[0]] = Filtered(mask, {text: ~mask}, ~mask)
        return None

    def _nowhere(self, plugin: str, reason: str, nodes: Nodes) -> Decision:
        import numpy as np

        everything = np.ones(len(nodes), dtype=bool)
        refused = {plugin: Filtered(~everything, {reason: everything}, everything)}
        return Decision(None, Trace(nodes.names_now(), packed(refused), {}, {}), refused, reason)

    def _refreshed(self, pod: QueuedPod, nodes: Nodes) -> Kept:
        from hyperkube_host.scheduler.framework.equivalence_cache import Kept, Plugins

        stamps = [plugin.stamp() for plugin in self._stamped]
        if stamps != self._stamps:
            self._kept.clear()
            self._stamps = stamps
        kept = self._kept.get(pod.template_key)
        if kept is not None and kept.refresh(pod, nodes):
            self._kept.move_to_end(pod.template_key)
            return kept
        plugins = Plugins(
            self._near_filters, self._near_scores, self._wide_filters, self._wide_scores, self._pre_filters
        )
        kept = self._kept[pod.template_key] = Kept(pod, nodes, plugins, self._laps)
        self._kept.move_to_end(pod.template_key)
        while len(self._kept) > max(4, KEPT_CELLS // len(nodes)):
            self._kept.popitem(last=False)
        return kept

    def _ask_wide(self, pod: QueuedPod, nodes: Nodes, filters: Filters) -> dict[str, Filtered]:
        laps, asked = self._laps, {}
        for name, plugin in filters:
            if not plugin.skips_filter(pod, nodes):
                if laps.samples:
                    laps.mark()
                answer = asked[name] = plugin.filter(pod, nodes)
                if laps.samples:
                    laps.note(name, "Filter", answer)
        laps.evaluated(tuple(asked), "Filter")
        return asked

    def _score(
        self, pod: QueuedPod, nodes: Nodes, kept: Kept, feasible: Mask
    ) -> tuple[IntScores, dict[str, ShortScores], dict[str, int]]:
        import numpy as np

        kept.votes.scored += 1
        total = np.zeros(len(nodes), dtype=np.int64)
        said: dict[str, ShortScores] = {}
        weights: dict[str, int] = {}
        for name, plugin, weight in self._scores:
            if plugin.scope is Scope.CLUSTER:
                if plugin.skips_score(pod, nodes):
                    continue
                scores = self._wide_score(name, plugin, pod, nodes, feasible)
            elif name in kept.raw:
                scores = self._normalized(name, plugin, pod, nodes, kept, feasible)
            else:
                continue
            said[name], weights[name] = shortened(scores), weight
            total += scores if weight == 1 else scores * weight
        total[~feasible] = -1
        return total, said, weights

    def _wide_score(self, name: str, plugin: ScorePlugin, pod: QueuedPod, nodes: Nodes, feasible: Mask) -> IntScores:
        laps = self._laps
        laps.evaluated((name,), "Score")
        if laps.samples:
            laps.mark()
        raw = self._remote_score(plugin, pod, nodes, feasible) if plugin.remote else plugin.score(pod, nodes)
        if laps.samples:
            laps.note(name, "Score", raw)
        scores = plugin.normalize(pod, nodes, raw, feasible)
        if laps.samples:
            laps.note(name, "ScoreExtensionNormalize", scores)
        return scores

    def _remote_score(self, plugin: ScorePlugin, pod: QueuedPod, nodes: Nodes, feasible: Mask) -> IntScores:
        from hyperkube_host.scheduler.framework.subset import scored_some

        return scored_some(plugin, pod, nodes, feasible)

    def _normalized(
        self, name: str, plugin: ScorePlugin, pod: QueuedPod, nodes: Nodes, kept: Kept, feasible: Mask
    ) -> IntScores:
        if feasible is kept.feasible or type(plugin).normalize is ScorePlugin.normalize:
            return kept.scores(name, plugin, pod, nodes)
        return plugin.normalize(pod, nodes, kept.raw[name], feasible)

    def _best(self, total: IntScores) -> int:
        """Return the column of the greatest total, one of them if there are several."""
        candidates = (total == total[total.argmax()]).nonzero()[0]
        if len(candidates) == 1:
            return int(candidates[0])
        return int(candidates[self._random.randrange(len(candidates))])
