"""What 1.x made of the nodes themselves: labels, taints, images, an annotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from hyperkube_lib.scheduling.held_images import HeldImages, normalized
from hyperkube_lib.scheduling.node_selectors import node_affinity, term
from hyperkube_scheduler.legacy_priorities.scale import BEST

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.taints import PREFER_NO_SCHEDULE, is_tolerated
from hyperkube.machinery.objects import Object, annotations_of, controller_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
AVOIDABLE = frozenset({"ReplicationController", "ReplicaSet"})
LEAST_BYTES, MOST_BYTES = 23 * 2**20, 1000 * 2**20


class NodeAffinityPriority(ScorePlugin):
    """The weights of the preferred terms that a node matches, scaled so that the best node gets `BEST`."""

    scope = Scope.NODE

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod prefers nothing."""
        return not node_affinity(pod.pod).get("preferredDuringSchedulingIgnoredDuringExecution")

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return the sum of weights."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for row in node_affinity(pod.pod).get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            total += int(row.get("weight") or 0) * term(row.get("preference") or {}, nodes)
        return total

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Scale to 0 to `BEST`."""
        most = int(scores[feasible].max(initial=0))
        return scores * BEST // most if most else scores


class TaintTolerationPriority(ScorePlugin):
    """The fewer soft taints of a node the pod does not tolerate, the better."""

    scope = Scope.NODE

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Count these taints."""
        rows = pod.pod.get("spec", {}).get("tolerations") or ()
        soft = [row for row in rows if row.get("effect", "") in {"", PREFER_NO_SCHEDULE}]
        counts = np.zeros(len(nodes), dtype=np.int64)
        for (key, value, effect), tainted in nodes.taints().items():
            taint = {"key": key, "value": value, "effect": effect}
            if effect == PREFER_NO_SCHEDULE and not is_tolerated(taint, soft):
                counts += tainted
        return counts

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Turn the counts around."""
        most = int(scores[feasible].max(initial=0))
        return BEST - scores * BEST // most if most else np.full(len(nodes), BEST, dtype=np.int64)


class ImageLocalityPriority(ScorePlugin):
    """The sizes of the pod's images that a node holds, each scaled by the share of nodes that hold it."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._held = HeldImages()

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no node holds an image of the pod."""
        return not self._held.any_of(_images(pod.pod), nodes)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node: 0 for 23 MiB or less, `BEST` for 1000 MiB or more."""
        sums = self._held.sizes(_images(pod.pod), nodes)
        scores: IntScores = BEST * (sums.clip(LEAST_BYTES, MOST_BYTES) - LEAST_BYTES) // (MOST_BYTES - LEAST_BYTES)
        return scores


class NodePreferAvoidPodsPriority(ScorePlugin):
    """Nodes whose annotation asks not to be given the pods of this pod's controller score 0, all others `BEST`."""

    scope = Scope.NODE

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return 0 or `BEST`."""
        owner = controller_of(pod.pod) or {}
        scores = np.full(len(nodes), BEST, dtype=np.int64)
        for index in range(len(nodes)) if owner.get("kind") in AVOIDABLE else ():
            text = annotations_of(nodes.node(index)).get(AVOID)
            if text and (owner.get("kind"), owner.get("uid")) in _avoided(text):
                scores[index] = 0
        return scores


class LabelPreference(ScorePlugin):
    """Prefers nodes that have a label, or lack it, whatever its value; what 1.x made of ``labelPreference``.

    Settings: ``preferences`` (label, presence, weight 1 unless given); the scores of several, 0 or `BEST` each, times
    their weights add up.
    """

    scope = Scope.NODE

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Take ``labelPreference`` (label, presence) of a 1.x policy."""
        rows = [
            {"label": each.get("label", ""), "presence": bool(each.get("presence")), "weight": each["weight"]}
            for each in arguments["labelPreference"]
        ]
        return {"preferences": rows}

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._preferences = [
            (str(row["label"]), bool(row.get("presence")), int(row.get("weight") or 1))
            for row in settings.get("preferences") or ()
        ]

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST` times the sum of the weights."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for label, presence, weight in self._preferences:
            total += BEST * weight * (nodes.label_exists(label) == presence)
        return total


class EqualPriority(ScorePlugin):
    """Every node scores 1."""

    scope = Scope.NODE

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return ones."""
        return np.ones(len(nodes), dtype=np.int64)


def _images(pod: Object) -> list[str]:
    return [normalized(row["image"]) for row in pod["spec"].get("containers") or () if row.get("image")]


def _avoided(text: str) -> set[tuple[str | None, str | None]]:
    """Return kind and uid of the controllers that an annotation names; one that cannot be read names none."""
    try:
        rows = [
            (row.get("podSignature") or {}).get("podController") or {} for row in orjson.loads(text)["preferAvoidPods"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()
    return {(row.get("kind"), row.get("uid")) for row in rows}
