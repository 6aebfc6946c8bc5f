"""One pod's cycle: filter all nodes, score those that are left, choose the best. Pure: no clock, no API.

What plugins of a narrow scope say is kept per template and refreshed where nodes or pods changed (`kept`), so that the
usual decision asks about the few nodes that were bound to since this template was scheduled last.
"""

from __future__ import annotations

from collections import OrderedDict
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from hyperkube_host.scheduler.framework.rejections import first_rejections
from hyperkube_host.scheduler.framework.schedule_result import Diagnosis, ScheduleResult, packed, shortened
from hyperkube_host.scheduler.metrics.point_times import CycleTimer, NoTimer

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, SchedulingPlugin, Scope, ScorePlugin
from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod
    from hyperkube_host.scheduler.framework.equivalence_cache import EquivalenceClass, Filters, Scores
    from hyperkube_host.scheduler.framework.schedule_result import ShortScores

    from hyperkube.hookspecs.scheduling import IntScores, Mask

BLOCK = 500
"""Numbers that are looked at together: of more numpy gives the interpreter away, and in a burst one of many other
threads would keep it for long."""
EQUIVALENCE_CACHE_CELLS = 400_000
"""Nodes times templates whose answers are kept: about 20 bytes per cell and plugin."""


class FilterResult(NamedTuple):
    """What filtering said about all nodes."""

    feasible: Mask
    rejections: dict[str, Filtered]


class Algorithm:
    """Filters and scores with one profile's plugins."""

    def __init__(
        self,
        filters: Filters,
        scores: Scores,
        random: Random,
        timer: CycleTimer | None = None,
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
        self._narrow_filters = [row for row in filters if row[1].scope is not Scope.CLUSTER]
        self._narrow_scores = [row for row in scores if row[1].scope is not Scope.CLUSTER]
        self._wide_filters = [row for row in wide if not row[1].remote]
        self._wide_scores = [row for row in scores if row[1].scope is Scope.CLUSTER]
        self._remote_filters = [row for row in wide if row[1].remote]
        self._pre_filters = [row for row in filters if type(row[1]).pre_filter is not FilterPlugin.pre_filter]
        narrow: list[SchedulingPlugin] = [plugin for _, plugin in self._narrow_filters]
        narrow += [plugin for _, plugin, _ in self._narrow_scores]
        self._stamped = [plugin for plugin in narrow if type(plugin).stamp is not SchedulingPlugin.stamp]
        self._stamps: list[int] = []
        self._random = random
        self._timer: CycleTimer = timer or NoTimer()
        self._equivalence_cache: OrderedDict[str, EquivalenceClass] = OrderedDict()

    def run_filters(self, pod: PreparedPod, nodes: Nodes) -> FilterResult | None:
        """Filter only, as the table is now: for a table with nominated pods that may come or not."""
        if not len(nodes):
            return None
        pre_filtered: dict[str, Filtered] = {}
        if self._pre_filters and self._pre_filter(pod, nodes, pre_filtered) is not None:
            return None
        feasible, answers = self._ask_filters(pod, nodes, self._refreshed(pod, nodes), pre_filtered)
        return FilterResult(feasible.copy(), self._rejections(answers, feasible, pre_filtered))

    def schedule(
        self,
        pod: PreparedPod,
        nodes: Nodes,
        with_nominated: FilterResult | None = None,
        nominated: NodeName | None = None,
    ) -> ScheduleResult:
        """Choose a node for a pod; the caller holds the table's lock.

        Args:
            pod: the pod.
            nodes: the table.
            with_nominated: how filtering ended with the nominated pods on the table: a node must fit with them, because
                they come there, and without them, because they may not.
            nominated: the pod's own nominated node; taken without a look at the others if it fits.
        """
        if not len(nodes):
            return ScheduleResult(None, Diagnosis((), {}, {}, {}))
        self._timer.begin()
        pre_filtered: dict[str, Filtered] = {}
        if self._pre_filters:
            self._timer.start_plugins()
            unschedulable = self._pre_filter(pod, nodes, pre_filtered)
            self._timer.observe_point("PreFilter", "Unschedulable" if unschedulable is not None else "Success")
            if unschedulable is not None:
                return unschedulable
        cached = self._refreshed(pod, nodes)
        cached.evaluation_counts.filtered += 1
        if (
            with_nominated is None
            and nominated is None
            and not pre_filtered
            and self._is_answered_by_cache(cached, pod, nodes)
        ):
            return self._schedule_from_cache(pod, nodes, cached)
        feasible, answers = self._ask_filters(pod, nodes, cached, pre_filtered)
        if with_nominated is not None:
            pre_filtered, feasible = with_nominated.rejections, feasible & with_nominated.feasible
        column = None if nominated is None else nodes.index_of(nominated)
        if column is not None and feasible[column]:
            answers, feasible = self._on_nominated_node(pod, nodes, column, answers, feasible)
        elif self._remote_filters:
            answers, feasible = self._ask_remote(pod, nodes, feasible, answers, feasible)
        rejections = self._rejections(answers, feasible, pre_filtered)
        names = nodes.names_snapshot()
        count = int(feasible.sum())
        self._timer.observe_point("Filter", "Success" if count else "Unschedulable")
        if not count:
            return ScheduleResult(None, Diagnosis(names, packed(rejections), {}, {}), rejections)
        if count == 1:
            return ScheduleResult(names[int(feasible.argmax())], Diagnosis(names, packed(rejections), {}, {}))
        total, scores, weights = self._score(pod, nodes, cached, feasible)
        self._timer.observe_point("Score", "Success")
        return ScheduleResult(names[self._best(total)], Diagnosis(names, packed(rejections), scores, weights))

    def _is_answered_by_cache(self, cached: EquivalenceClass, pod: PreparedPod, nodes: Nodes) -> bool:
        """Tell whether what is kept of the template says everything about this pod, and some node fits."""
        if not cached.count or not cached.is_additive:
            return False
        for filters in (cached.wide_filters, self._remote_filters):
            for _, plugin in filters:
                if not plugin.skips_filter(pod, nodes):
                    return False
        for _, scorer, _ in cached.wide_scores:  # noqa: SIM110  a generator costs more than it says
            if not scorer.skips_score(pod, nodes):
                return False
        return True

    def _schedule_from_cache(self, pod: PreparedPod, nodes: Nodes, cached: EquivalenceClass) -> ScheduleResult:
        if cached.rejections is None:
            cached.rejections = packed(self._rejections(cached.filtered, cached.feasible, {}))
        names = nodes.names_snapshot()
        self._timer.observe_point("Filter", "Success")
        if cached.count == 1:
            return ScheduleResult(names[int(cached.feasible.argmax())], Diagnosis(names, cached.rejections, {}, {}))
        cached.evaluation_counts.scored += 1
        total = cached.totals(pod, nodes)
        chosen = self._best(total)
        self._timer.observe_point("Score", "Success")
        return ScheduleResult(names[chosen], Diagnosis(names, cached.rejections, cached.final_scores(), cached.weights))

    def fits(self, pod: PreparedPod, nodes: Nodes, index: int) -> bool:
        """Tell whether all filters keep one node, asked anew; what they know without the nodes does not change."""
        return self._rejection(pod, nodes, index) is None

    def why_not(self, pod: PreparedPod, nodes: Nodes, index: int) -> list[str]:
        """Return what the first filter that refuses a node says of it; empty if all keep it."""
        return self._rejection(pod, nodes, index) or []

    def _rejection(self, pod: PreparedPod, nodes: Nodes, index: int) -> list[str] | None:
        from hyperkube_host.scheduler.cache.columns import Columns

        part = Columns(nodes, [index])
        for filters, table, column in ((self._narrow_filters, part, 0), (self._wide_filters, nodes, index)):
            for _, plugin in filters:
                if not plugin.skips_filter(pod, nodes):
                    answer = plugin.filter(pod, table)
                    if not answer.mask[column]:
                        return [reason for reason, mask in answer.reasons.items() if mask[column]]
        return None

    def _ask_filters(
        self, pod: PreparedPod, nodes: Nodes, cached: EquivalenceClass, pre_filtered: dict[str, Filtered]
    ) -> tuple[Mask, dict[str, Filtered]]:
        """Ask all filters of this process; return the feasible nodes and all answers."""
        feasible, answers = cached.feasible, cached.filtered
        for each in pre_filtered.values():
            feasible = feasible & each.mask
        if self._checks_all or feasible.any():
            wide = self._ask_wide(pod, nodes, cached.wide_filters)
            if wide:
                feasible = feasible.copy()
                for answer in wide.values():
                    feasible &= answer.mask
                answers = {name: (wide.get(name) or answers.get(name)) for name, _ in self._filters}  # type: ignore[misc]  # Nones go below
                answers = {name: answer for name, answer in answers.items() if answer is not None}
        return feasible, answers

    def _on_nominated_node(
        self, pod: PreparedPod, nodes: Nodes, column: int, answers: dict[str, Filtered], feasible: Mask
    ) -> tuple[dict[str, Filtered], Mask]:
        """Look at one feasible node only; at all the others if a remote filter refuses it."""
        from hyperkube_host.scheduler.framework.subset import single_node_mask

        alone = single_node_mask(column, len(nodes))
        answers, left = self._ask_remote(pod, nodes, alone, answers, feasible)
        return (answers, alone) if left[column] else self._ask_remote(pod, nodes, left, answers, left)

    def _ask_remote(
        self, pod: PreparedPod, nodes: Nodes, about: Mask, answers: dict[str, Filtered], feasible: Mask
    ) -> tuple[dict[str, Filtered], Mask]:
        """Ask the filters that ask others about some of the feasible nodes; return all answers and what is left."""
        from hyperkube_host.scheduler.framework.subset import filter_subset

        for name, plugin in self._remote_filters:
            asked = feasible & about
            if asked.any() and not plugin.skips_filter(pod, nodes):
                answer = filter_subset(plugin, pod, nodes, asked)
                answers, feasible = {**answers, name: answer}, feasible & answer.mask
        return answers, feasible

    def _rejections(
        self, answers: dict[str, Filtered], feasible: Mask, pre_filtered: dict[str, Filtered]
    ) -> dict[str, Filtered]:
        if self._checks_all and not pre_filtered:
            return {name: answer for name, answer in answers.items() if not answer.mask.all()}
        return first_rejections(answers, len(feasible), feasible, pre_filtered)

    def _pre_filter(self, pod: PreparedPod, nodes: Nodes, pre_filtered: dict[str, Filtered]) -> ScheduleResult | None:
        """Ask what filters know without the nodes; put what the others are left out by into `outside`.

        Upstream's texts: kubernetes ``pkg/scheduler/framework/runtime/framework.go`` (RunPreFilterPlugins).
        """
        import numpy as np

        names: frozenset[str] | None = None
        plugins: list[str] = []
        known = self._equivalence_cache.get(pod.template_key)
        for plugin, each in self._pre_filters if known is None else known.pre_filters:
            answer = each.pre_filter(pod)
            if self._timer.samples_plugins:
                self._timer.observe_plugin(plugin, "PreFilter", answer)
            if answer is None:
                continue
            self._timer.evaluated((plugin,), "PreFilter")
            if answer.reason:
                return self._unschedulable(plugin, answer.reason, nodes)
            if answer.names is not None:
                names = answer.names if names is None else names & answer.names
                plugins.append(plugin)
                if not names:
                    who = f"(s) [{' '.join(plugins)}] simultaneously" if plugins[1:] else f" {plugins[0]}"
                    return self._unschedulable(plugin, f"node(s) didn't satisfy plugin{who}", nodes)
        if names is not None:
            mask = np.zeros(len(nodes), dtype=bool)
            for name in names:
                index = nodes.index_of(NodeName(name))
                if index is not None:
                    mask[index] = True
            text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]"
            pre_filtered[plugins[0]] = Filtered(mask, {text: ~mask}, ~mask)
        return None

    def _unschedulable(self, plugin: str, reason: str, nodes: Nodes) -> ScheduleResult:
        import numpy as np

        everything = np.ones(len(nodes), dtype=bool)
        rejected = {plugin: Filtered(~everything, {reason: everything}, everything)}
        return ScheduleResult(None, Diagnosis(nodes.names_snapshot(), packed(rejected), {}, {}), rejected, reason)

    def _refreshed(self, pod: PreparedPod, nodes: Nodes) -> EquivalenceClass:
        from hyperkube_host.scheduler.framework.equivalence_cache import EquivalenceClass, Plugins

        stamps = [plugin.stamp() for plugin in self._stamped]
        if stamps != self._stamps:
            self._equivalence_cache.clear()
            self._stamps = stamps
        cached = self._equivalence_cache.get(pod.template_key)
        if cached is not None and cached.refresh(pod, nodes):
            self._equivalence_cache.move_to_end(pod.template_key)
            return cached
        plugins = Plugins(
            self._narrow_filters, self._narrow_scores, self._wide_filters, self._wide_scores, self._pre_filters
        )
        cached = self._equivalence_cache[pod.template_key] = EquivalenceClass(pod, nodes, plugins, self._timer)
        self._equivalence_cache.move_to_end(pod.template_key)
        limit = max(4, EQUIVALENCE_CACHE_CELLS // len(nodes))
        # In the order of their last use: what is outdated would be asked anew, and only takes memory until then.
        while len(self._equivalence_cache) > limit or next(iter(self._equivalence_cache.values())).is_outdated(nodes):
            self._equivalence_cache.popitem(last=False)
        return cached

    def _ask_wide(self, pod: PreparedPod, nodes: Nodes, filters: Filters) -> dict[str, Filtered]:
        timer, asked = self._timer, {}
        for name, plugin in filters:
            if not plugin.skips_filter(pod, nodes):
                if timer.samples_plugins:
                    timer.start_plugins()
                answer = asked[name] = plugin.filter(pod, nodes)
                if timer.samples_plugins:
                    timer.observe_plugin(name, "Filter", answer)
        timer.evaluated(tuple(asked), "Filter")
        return asked

    def _score(
        self, pod: PreparedPod, nodes: Nodes, cached: EquivalenceClass, feasible: Mask
    ) -> tuple[IntScores, dict[str, ShortScores], dict[str, int]]:
        import numpy as np

        cached.evaluation_counts.scored += 1
        total = np.zeros(len(nodes), dtype=np.int64)
        answer: dict[str, ShortScores] = {}
        weights: dict[str, int] = {}
        for name, plugin, weight in self._scores:
            if plugin.scope is Scope.CLUSTER:
                if plugin.skips_score(pod, nodes):
                    continue
                scores = self._wide_score(name, plugin, pod, nodes, feasible)
            elif name in cached.raw:
                scores = self._normalized(name, plugin, pod, nodes, cached, feasible)
            else:
                continue
            answer[name], weights[name] = shortened(scores), weight
            total += scores if weight == 1 else scores * weight
        total[~feasible] = -1
        return total, answer, weights

    def _wide_score(self, name: str, plugin: ScorePlugin, pod: PreparedPod, nodes: Nodes, feasible: Mask) -> IntScores:
        timer = self._timer
        timer.evaluated((name,), "Score")
        if timer.samples_plugins:
            timer.start_plugins()
        raw = self._remote_score(plugin, pod, nodes, feasible) if plugin.remote else plugin.score(pod, nodes)
        if timer.samples_plugins:
            timer.observe_plugin(name, "Score", raw)
        scores = plugin.normalize(pod, nodes, raw, feasible)
        if timer.samples_plugins:
            timer.observe_plugin(name, "ScoreExtensionNormalize", scores)
        return scores

    def _remote_score(self, plugin: ScorePlugin, pod: PreparedPod, nodes: Nodes, feasible: Mask) -> IntScores:
        from hyperkube_host.scheduler.framework.subset import score_subset

        return score_subset(plugin, pod, nodes, feasible)

    def _normalized(
        self, name: str, plugin: ScorePlugin, pod: PreparedPod, nodes: Nodes, cached: EquivalenceClass, feasible: Mask
    ) -> IntScores:
        if feasible is cached.feasible or type(plugin).normalize is ScorePlugin.normalize:
            return cached.scores(name, plugin, pod, nodes)
        return plugin.normalize(pod, nodes, cached.raw[name], feasible)

    def _best(self, total: IntScores) -> int:
        """Return the column of the greatest total, one of them if there are several."""
        blocks = [total[at : at + BLOCK] for at in range(0, len(total), BLOCK)]
        greatest = [int(block.max()) for block in blocks]
        best = max(greatest)
        equal = [
            (block == best).nonzero()[0] if top == best else () for block, top in zip(blocks, greatest, strict=True)
        ]
        count = sum(map(len, equal))
        chosen = self._random.randrange(count) if count > 1 else 0
        at = 0
        while chosen >= len(equal[at]):
            chosen -= len(equal[at])
            at += 1
        return at * BLOCK + int(equal[at][chosen])
