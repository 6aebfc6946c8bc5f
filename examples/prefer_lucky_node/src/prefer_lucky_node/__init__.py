"""PreferLuckyNode scores nodes by a label; LuckyProvider is the usual set of plugins with this one added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.scheduling import MAX_SCORE, AlgorithmProvider, ScorePlugin
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, NodeTable, PodInfo


@dataclass(frozen=True, slots=True)
class Luck:
    """The settings: which label makes a node lucky."""

    label: str = "example.com/luck"
    value: str = "good"


class PreferLuckyNode(ScorePlugin):
    """Gives lucky nodes all the points there are, and the others none."""

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Score all nodes at once: one look-up in the table's index of labels."""
        luck = self.settings(Luck)
        return nodes.label_equals(luck.label, luck.value).astype("int64") * MAX_SCORE


PROVIDER = AlgorithmProvider(
    name="LuckyProvider",
    queue_sort="PrioritySort",
    pre_enqueue=("SchedulingGates",),
    filters=("NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    scores={"NodeResourcesLeastAllocated": 1, "PreferLuckyNode": 5},
    binds=("DefaultBinder",),
)


class LuckyProvider(Plugin):
    """Offers the set under its name for ``--algorithm-provider``."""

    @hookimpl
    def scheduling_providers(self) -> Sequence[AlgorithmProvider]:
        """Offer the set."""
        return [PROVIDER]
