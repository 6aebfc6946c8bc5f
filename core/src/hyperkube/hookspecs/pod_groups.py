"""Scheduling plugins for pod groups: pods that are decided about together, in one cycle.

A pod whose ``spec.schedulingGroup`` names a PodGroup is not scheduled alone. All pods of the group that want a node are
scheduled in one cycle, one after another, each as if those before it were placed; then all that found a node are bound,
or none.
With generators of placements this is done in several parts of the cluster, and the best of these is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hyperkube.hookspecs.scheduling import MAX_SCORE, PostFilterResult, SchedulingPlugin
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object, namespace_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.node_table import Mask, NodeTable, PodInfo
    from hyperkube.machinery.objects import NodeName

__all__ = [
    "MAX_SCORE",
    "Assignments",
    "GroupKey",
    "NoPlacement",
    "Placement",
    "PlacementGeneratePlugin",
    "PlacementScorePlugin",
    "PodGroupDryRun",
    "PodGroupInfo",
    "PodGroupPostFilterPlugin",
    "group_of",
]

GroupKey: TypeAlias = tuple[str, str]
"""Namespace and name of a PodGroup."""


def group_of(pod: Object) -> GroupKey | None:
    """Return the PodGroup that a pod is part of."""
    name = (pod.get("spec", {}).get("schedulingGroup") or {}).get("podGroupName")
    return (namespace_of(pod), name) if name else None


class NoPlacement(HyperkubeError):
    """What a plugin relies on for placing a group is not so, and waiting will not help: look at the message."""


@dataclass(frozen=True, slots=True)
class PodGroupInfo:
    """A group in its cycle.

    Attributes:
        key: its namespace and name.
        group: the PodGroup, empty if it is not known.
        pods: those that want a node, in the order in which they are scheduled.
        placed: ``namespace/name`` → node, of those that are bound or about to be.
    """

    key: GroupKey
    group: Object
    pods: Sequence[PodInfo]
    placed: Mapping[str, NodeName]


@dataclass(frozen=True, slots=True)
class Placement:
    """A part of the cluster in which a group may be placed.

    Attributes:
        name: for logs; may be empty.
        nodes: [node]: its nodes.
    """

    name: str
    nodes: Mask


Assignments: TypeAlias = "Mapping[str, NodeName]"
"""``namespace/name`` → node, of the pods of a group that found one in a placement."""


class PlacementGeneratePlugin(SchedulingPlugin):
    """Names the parts of the cluster in which a group may be placed."""

    def generate_placements(self, group: PodGroupInfo, nodes: NodeTable, parent: Placement) -> Sequence[Placement]:
        """Return parts of `parent`, or `parent` itself if there is nothing to say; none: it fits nowhere in there.

        Called once per cycle and placement of the generator before, under the table's lock.

        Raises:
            NoPlacement: it cannot tell; the cycle fails.
        """
        raise NotImplementedError


class PlacementScorePlugin(SchedulingPlugin):
    """Ranks the placements in which a group can be placed."""

    def score_placement(self, group: PodGroupInfo, placement: Placement, assignments: Assignments) -> int:
        """Return a score, from 0 to `MAX_SCORE` unless `normalize_placements` brings it there.

        Called only if the group can be placed in several placements.
        """
        raise NotImplementedError

    def normalize_placements(self, group: PodGroupInfo, scores: Sequence[int]) -> Sequence[int]:
        """Bring the scores of all placements to 0..`MAX_SCORE`.

        Raises:
            NoPlacement: they make no sense; the cycle fails.
        """
        return scores


class PodGroupDryRun(Protocol):
    """The table as it would be: pods can be taken away and put back, and the whole group scheduled again."""

    def remove(self, index: int, pod: Object) -> None:
        """Take a pod away from a node, until the dry run ends."""

    def put_back(self, index: int, pod: Object) -> None:
        """Put one back that was taken away."""

    def place(self) -> Assignments | None:
        """Try the group as things stand; return who would go where, None if it is not to be placed."""


class PodGroupPostFilterPlugin(SchedulingPlugin):
    """Tries to make room when a group cannot be placed; needs the feature gate WorkloadAwarePreemption."""

    def group_post_filter(
        self, group: PodGroupInfo, nodes: NodeTable, dry_run: PodGroupDryRun
    ) -> Callable[[], PostFilterResult] | PostFilterResult:
        """Decide whom to evict; what has to be written is done by the function returned.

        Called with the table as it is, by the scheduler's own thread. A nomination's node says that room is being made:
        the first pod's; the group is scheduled again when it is there.
        """
        raise NotImplementedError
