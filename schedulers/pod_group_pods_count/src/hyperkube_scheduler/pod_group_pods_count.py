"""PodGroupPodsCount: of the places where a group can run, prefer the one that holds the most of its pods."""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.hookspecs.pod_groups import (
    MAX_SCORE,
    Assignments,
    NoPlacement,
    Placement,
    PlacementScorePlugin,
    PodGroupInfo,
)


class PodGroupPodsCount(PlacementScorePlugin):
    """Scores a placement by the share of pods that it holds, of the most that any does; placed ones count everywhere.

    Source: kubernetes ``pkg/scheduler/framework/plugins/podgrouppodscount/podgroup_pods_count.go`` (1.36).
    """

    def score_placement(self, group: PodGroupInfo, placement: Placement, assignments: Assignments) -> int:
        """Return how many pods of the group would have a node."""
        return len(group.placed) + len(assignments)

    def normalize_placements(self, group: PodGroupInfo, scores: Sequence[int]) -> Sequence[int]:
        """Return each as a share of the greatest.

        Raises:
            NoPlacement: none holds any pod.
        """
        most = max(scores, default=0)
        if not most:
            raise NoPlacement("no pods from pod group are assigned to any of the candidate placements")
        return [score * MAX_SCORE // most for score in scores]
