"""Scheduling plugins: filter and score all nodes at once.

Nodes live in a struct of arrays, updated incrementally (`NodeTable`). A plugin answers for all of them in one call,
as masks and integer arrays; the adapters `NodeFilter` and `NodeScore` let an author write the per-node form instead.
The hook only collects the plugins once; the loop then calls them directly. Scores run from 0 to `MAX_SCORE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hyperkube.hookspecs import hookimpl, hookspec
from hyperkube.hookspecs.algorithm_provider import AlgorithmProvider
from hyperkube.hookspecs.base import Plugin
from hyperkube.hookspecs.node_table import NodeTable, PodCounts, PodInfo
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.node_table import IntScores, Mask

__all__ = [
    "MAX_SCORE",
    "AlgorithmProvider",
    "BindPlugin",
    "DryRun",
    "FilterPlugin",
    "Filtered",
    "FrameworkHandle",
    "IntScores",
    "Mask",
    "NodeFilter",
    "NodeScore",
    "NodeTable",
    "Permission",
    "PermitPlugin",
    "PodCounts",
    "PodInfo",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFiltered",
    "QueueSortPlugin",
    "ReservePlugin",
    "SchedulingPlugin",
    "Scope",
    "ScorePlugin",
    "VictimReview",
    "Victims",
    "hookimpl",
    "scheduling_plugins",
    "scheduling_providers",
]  # fmt: skip

MAX_SCORE = 100


class Scope(Enum):
    """What a plugin's answer depends on, beside the pod's template; the wider, the more often it is asked.

    The template is what `PodInfo.template_key` covers: namespace, labels, and the scheduling fields of the spec. With
    a narrow scope a plugin is asked about some columns only, as a table of just these, and its raw answers are kept.
    """

    NODE = "node"
    """Each node's own object alone."""
    NODE_AND_PODS = "node and pods"
    """Each node's object and the pods there."""
    CLUSTER = "cluster"
    """Anything: other nodes, other objects, the pod's name; never kept."""


class FrameworkHandle(Protocol):
    """The pods that the scheduler has in hand, by ``namespace/name``: what a plugin may do about other pods."""

    def allow(self, key: str) -> None:
        """Let a pod go on that a permit plugin made wait; nothing if it does not wait."""

    def reject(self, key: str, reason: str) -> bool:
        """Refuse a pod that a permit plugin made wait; tell whether it did wait."""

    def activate(self, key: str) -> None:
        """Try a pod now that waits for a change or for the end of its back-off."""


@dataclass(slots=True)
class Filtered:
    """Which nodes a filter keeps, and why it refuses the others.

    Attributes:
        mask: True for kept nodes.
        reasons: refusal text → the nodes it applies to, with upstream's exact texts; a node may have several.
        unresolvable: nodes where evicting pods cannot help (upstream's UnschedulableAndUnresolvable).
    """

    mask: Mask
    reasons: dict[str, Mask] = field(default_factory=dict)
    unresolvable: Mask | None = None


@dataclass(frozen=True, slots=True)
class PreFiltered:
    """What a filter knows before it looks at any node.

    Attributes:
        reason: why the pod can run nowhere, whatever the nodes are like; eviction cannot help.
        names: the only nodes that it can run on; None means any.
    """

    reason: str = ""
    names: frozenset[str] | None = None


class SchedulingPlugin(Plugin):
    """The base of all scheduling plugins; a class takes part in an extension point by implementing it.

    Attributes:
        scope: what its filter and raw scores depend on.
        remote: it asks another process: filters are asked last, about the nodes that all others keep, and not when
            preemption tries things out; scores are asked about feasible nodes only.
        skips_by_template: `skips` looks at the pod's template alone: asked once for each, and for `pre_filter` too.
        events_to_register: after which changes a refused pod is worth another try: ``node``, ``node gone``, ``pod``
            (placed or relabelled), ``pod gone``, or what the plugin itself tells its host; None means after any.
    """

    scope: ClassVar[Scope] = Scope.CLUSTER
    remote: ClassVar[bool] = False
    skips_by_template: ClassVar[bool] = False
    events_to_register: ClassVar[frozenset[str] | None] = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Take what to call, with one of `events_to_register`, after a change that the scheduler does not watch."""

    def stamp(self) -> int:
        """Return a number that changes when a narrow plugin's answers hold no longer though no node or pod changed."""
        return 0

    def set_handle(self, pods: FrameworkHandle) -> None:
        """Take what acts on other pods; called once, before any extension point, by a scheduler that binds."""

    @hookimpl
    def scheduling_plugins(self) -> Sequence[SchedulingPlugin]:
        """Offer this plugin itself."""
        return [self]


class PreEnqueuePlugin(SchedulingPlugin):
    """Keeps pods out of the active queue until they may be scheduled."""

    def pre_enqueue(self, pod: Object) -> str:
        """Return why the pod may not be scheduled yet, or the empty string."""
        raise NotImplementedError


class QueueSortPlugin(SchedulingPlugin):
    """Orders the queue; exactly one is enabled."""

    def sort_key(self, pod: Object, queued_at: float) -> Any:
        """Return a key; smaller ones are scheduled first."""
        raise NotImplementedError


class FilterPlugin(SchedulingPlugin):
    """Keeps the nodes that can run a pod."""

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Return what can be said without the nodes, before any filter runs; None for nothing, as nearly always."""
        return None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Return the mask of feasible nodes, with a reason for each refused one."""
        raise NotImplementedError

    def skips(self, pod: PodInfo) -> bool:
        """Tell that this filter keeps every node for such a pod, so that it need not run."""
        return False

    def skips_filter(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell the same, looking at the table too; for plugins that also score, or whose scope is the cluster."""
        return self.skips(pod)


class ScorePlugin(SchedulingPlugin):
    """Ranks the nodes that can run a pod."""

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, from 0 to `MAX_SCORE` unless `normalize` brings it there."""
        raise NotImplementedError

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Bring raw scores to 0..`MAX_SCORE`, looking at feasible nodes only."""
        return scores

    def skips(self, pod: PodInfo) -> bool:
        """Tell that every node scores alike for such a pod, so that it need not run."""
        return False

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell the same, looking at the table too."""
        return self.skips(pod)


class DryRun(Protocol):
    """The table as it would be: pods can be taken away and put back, and the profile's filters asked again."""

    def remove(self, index: int, pod: Object) -> None:
        """Take a pod away from a node, until `restore`."""

    def put_back(self, index: int, pod: Object) -> None:
        """Put one back that was taken away."""

    def fits(self, index: int) -> bool:
        """Tell whether all filters keep that node for the pod as things stand in the dry run."""

    def why_not(self, index: int) -> Sequence[str]:
        """Return what the first filter that refuses that node says as things stand in the dry run."""

    def restore(self) -> None:
        """Put everything back."""

    def review(self, choices: Mapping[NodeName, Victims]) -> Mapping[NodeName, Victims]:
        """Return the choices that other processes agree with, with the victims that they want.

        Raises:
            ApiError: one that must be asked cannot be.
        """


@dataclass(frozen=True, slots=True)
class Victims:
    """Pods of one node that would be deleted to make room, and how many disruption budgets that violates."""

    pods: Sequence[Object]
    violations: int = 0


class VictimReview(SchedulingPlugin):
    """Has a say in which pods are preempted; a filter plugin may be one too."""

    def review(self, pod: PodInfo, nodes: NodeTable, choices: Mapping[NodeName, Victims]) -> Mapping[NodeName, Victims]:
        """Return the choices that are all right, with the same victims or others of the node.

        Raises:
            ApiError: it cannot tell, and must be asked.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What a post-filter plugin did: the node to nominate, a sentence for the event, how many pods it preempted.

    With `noop` nothing was done, and an earlier nomination stays as it is (upstream's ``ModeNoop``).
    """

    node: NodeName | None
    message: str = ""
    victims: int = 0
    noop: bool = False


class PostFilterPlugin(SchedulingPlugin):
    """Tries to make room when no node fits (preemption)."""

    def post_filter(
        self, pod: PodInfo, nodes: NodeTable, refused: Mapping[str, Filtered], dry_run: DryRun
    ) -> Callable[[], PostFilterResult] | PostFilterResult:
        """Decide where to make room.

        Called with the table locked: decide only. What has to be written is done by the function returned, which is
        called without the lock.
        """
        raise NotImplementedError


class ReservePlugin(SchedulingPlugin):
    """Holds resources between the decision and the binding."""

    def reserve(self, pod: PodInfo, node: NodeName) -> str:
        """Return why it cannot be reserved, or the empty string."""
        raise NotImplementedError

    def unreserve(self, pod: PodInfo, node: NodeName) -> None:
        """Give back; called for each reserve of a pod that was not bound, also when `reserve` itself refused."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Permission:
    """A permit plugin's answer: allow, refuse (`reason`), or wait at most `wait_seconds`."""

    allowed: bool
    reason: str = ""
    wait_seconds: float = 0.0


class PermitPlugin(SchedulingPlugin):
    """Allows, refuses or delays a binding."""

    def permit(self, pod: PodInfo, node: NodeName) -> Permission:
        """Decide about a reserved pod."""
        raise NotImplementedError


class PreBindPlugin(SchedulingPlugin):
    """Does what must be done before a pod is bound (volumes)."""

    def may_wait(self, pod: PodInfo) -> bool:
        """Tell that `pre_bind` may take long for such a pod, so that it gets a thread of its own."""
        return False

    def pre_bind(self, pod: PodInfo, node: NodeName) -> str:
        """Return why the pod cannot be bound, or the empty string; called on a binder thread, may block."""
        raise NotImplementedError


class BindPlugin(SchedulingPlugin):
    """Binds a pod to a node; the first that returns True ends the search."""

    def bind(self, pod: PodInfo, node: NodeName) -> bool:
        """Bind and return True, or return False to leave it to the next; an `ApiError` fails the cycle."""
        raise NotImplementedError


class PostBindPlugin(SchedulingPlugin):
    """Learns of bindings."""

    def post_bind(self, pod: PodInfo, node: NodeName) -> None:
        """Take note of a binding that was stored."""
        raise NotImplementedError


class NodeFilter(FilterPlugin):
    """The per-node form of a filter, for authors who would rather not vectorise."""

    def filter_node(self, pod: Object, node: Object, pods: Sequence[Object]) -> str:
        """Return why the node cannot run the pod, or the empty string."""
        raise NotImplementedError

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Ask about each node in turn."""
        import numpy as np

        mask = np.ones(len(nodes), dtype=bool)
        reasons: dict[str, Mask] = {}
        for index in range(len(nodes)):
            reason = self.filter_node(pod.pod, nodes.node(index), nodes.pods(index))
            if reason:
                mask[index] = False
                reasons.setdefault(reason, np.zeros(len(nodes), dtype=bool))[index] = True
        return Filtered(mask, reasons)


class NodeScore(ScorePlugin):
    """The per-node form of a score."""

    def score_node(self, pod: Object, node: Object, pods: Sequence[Object]) -> int:
        """Return the node's score, 0 to `MAX_SCORE`."""
        raise NotImplementedError

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Ask about each node in turn."""
        import numpy as np

        found = (self.score_node(pod.pod, nodes.node(index), nodes.pods(index)) for index in range(len(nodes)))
        return np.fromiter(found, dtype=np.int64, count=len(nodes))


@hookspec
def scheduling_plugins() -> Sequence[SchedulingPlugin]:
    """Return the plugins to take part in scheduling.

    Called: once, when the scheduler builds its profiles; the loop calls the returned objects directly.
    Must: be quick and keep no reference to the arrays it is given beyond one call; give the same answer for the same
        pod and table; never change a pod, a node or the table.
    """


@hookspec
def scheduling_providers() -> Sequence[AlgorithmProvider]:
    """Return named sets of plugins that ``--algorithm-provider`` can choose.

    Called: once, at the scheduler's start, for plugins of group ``hyperkube.scheduler`` that are named as provider.
    Must: name only plugins by their entry-point names; unknown ones stop the scheduler with one line.
    """


class SchedulingHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def scheduling_plugins(self) -> list[Sequence[SchedulingPlugin]]:
        """Call `scheduling_plugins` of all plugins."""

    def scheduling_providers(self) -> list[Sequence[AlgorithmProvider]]:
        """Call `scheduling_providers` of all plugins."""
