"""Tries a group in the parts of the cluster that plugins name, and takes the one that they like best.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupSchedulingPlacementAlgorithm, findBestPlacement,
runWorkloadAwarePreemption), 1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from hyperkube_host.scheduler.cache.node_table import Nodes
from hyperkube_host.scheduler.framework.runtime import Framework
from hyperkube_host.scheduler.podgroup.attempt import PodGroupAttempt, PodGroupResult, PodGroupStatus
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler

from hyperkube.hookspecs.pod_groups import Assignments, NoPlacement, Placement, PodGroupInfo
from hyperkube.machinery.objects import NodeName, Object, key_of

NOT_CONSTRAINED = "workload aware preemption is not supported for pod groups with scheduling constraints"
NO_PLUGIN = "default preemption plugin is not registered, workload aware preemption is disabled"


class PodGroupPlacement:
    """One group in its cycle, with one framework's plugins."""

    def __init__(self, framework: Framework, attempt: PodGroupAttempt, group: PodGroupInfo, nodes: Nodes) -> None:
        self._framework = framework
        self._attempt = attempt
        self._group = group
        self._nodes = nodes
        self._random = Random()  # noqa: S311  chooses between placements that score alike

    def find_best_placement(self) -> PodGroupResult:
        """Try the group in every placement; return what came of the best, or of the first if it fits in none.

        Raises:
            NoPlacement: a plugin cannot tell.
        """
        placements = self._placements()
        first: PodGroupResult | None = None
        fitting: list[tuple[Placement, PodGroupResult]] = []
        for placement in placements:
            group_result = self._attempt.run(placement.nodes)
            if group_result.status is PodGroupStatus.FAILED:
                return group_result
            first = first or group_result
            if group_result.status is not PodGroupStatus.UNSCHEDULABLE:
                fitting.append((placement, group_result))
        if fitting:
            return fitting[0][1] if len(fitting) == 1 else self._highest_scored(fitting)
        group_result = first or PodGroupResult(PodGroupStatus.UNSCHEDULABLE)
        status = f", first placement status: {first.message or 'pod group is unschedulable'}" if first else ""
        group_result.message = f"0/{len(placements)} placements are available{status}"
        return group_result

    def run_post_filter(
        self, group_result: PodGroupResult, pod_scheduler: PodScheduler, *, constrained: bool
    ) -> PodGroupResult:
        """Let the first plugin that can make room for the whole group; return what came of that."""
        if constrained or not self._framework.group_post_filters:
            group_result.message = f"{group_result.message} {NOT_CONSTRAINED if constrained else NO_PLUGIN}".strip()
            return group_result
        _, plugin = self._framework.group_post_filters[0]
        with self._nodes.lock:
            dry_run = _PodGroupDryRun(self._nodes, self._attempt)
            try:
                answer = plugin.group_post_filter(self._group, self._nodes, dry_run)
            finally:
                dry_run.restore()
        nomination = pod_scheduler.execute(answer)
        if nomination.node is None or dry_run.placed is None:
            group_result.message = f"{group_result.message} {nomination.message}".strip()
            for each in group_result.pod_results:
                each.noop = each.noop or nomination.noop
            return group_result
        return PodGroupResult(PodGroupStatus.WAITS, dry_run.placed.pod_results, nomination.message)

    def _placements(self) -> Sequence[Placement]:
        with self._nodes.lock:
            found: Sequence[Placement] = [Placement("", np.ones(len(self._nodes), dtype=bool))]
            for _, plugin in self._framework.placement_generators:
                found = [part for each in found for part in plugin.generate_placements(self._group, self._nodes, each)]
        return found

    def _highest_scored(self, fitting: Sequence[tuple[Placement, PodGroupResult]]) -> PodGroupResult:
        totals = [0] * len(fitting)
        for name, plugin, weight in self._framework.placement_scores:
            raw = [
                plugin.score_placement(self._group, each, group_result.assignments()) for each, group_result in fitting
            ]
            scores = plugin.normalize_placements(self._group, raw)
            if len(scores) != len(raw):
                raise NoPlacement(f"placement score plugin {name!r} gave {len(scores)} scores for {len(raw)}")
            totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
        best = max(totals)
        return self._random.choice([row for row, total in zip(fitting, totals, strict=True) if total == best])[1]


class _PodGroupDryRun:
    """Takes pods off the real table and tries the group; implements `hyperkube.hookspecs.pod_groups.PodGroupDryRun`."""

    def __init__(self, nodes: Nodes, attempt: PodGroupAttempt) -> None:
        self._nodes = nodes
        self._attempt = attempt
        self._removed: dict[str, tuple[NodeName, Object]] = {}
        self.placed: PodGroupResult | None = None
        """What the last try that placed the group came to."""

    def remove(self, index: int, pod: Object) -> None:
        """Take a pod away from a node, until the dry run ends."""
        node = self._nodes.names[index]
        self._removed[key_of(pod)] = (node, pod)
        self._nodes.remove_pod(key_of(pod), node)

    def put_back(self, index: int, pod: Object) -> None:
        """Put one back that was taken away."""
        self._removed.pop(key_of(pod), None)
        self._nodes.put_pod(pod, self._nodes.names[index])

    def place(self) -> Assignments | None:
        """Try the group as things stand."""
        group_result = self._attempt.run(evicts=False)
        if group_result.status is not PodGroupStatus.FITS:
            return None
        self.placed = group_result
        return group_result.assignments()

    def restore(self) -> None:
        """Put everything back."""
        for node, pod in self._removed.values():
            self._nodes.put_pod(pod, node)
        self._removed.clear()
