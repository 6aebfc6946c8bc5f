"""The priorities of the 1.x scheduler under their own names, which give 0 to 10 as they did there.

A policy file means today's plugins by these names, so that it places pods as a KubeSchedulerConfiguration of the same
set does. A provider or a profile that names one of these plugins gets the numbers of 1.x.
Source: kubernetes 1.15 ``pkg/scheduler/algorithm/priorities/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import orjson
from hyperkube_lib.scheduling.node_selectors import node_affinity, term

from hyperkube.hookspecs.scheduling import NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.kinds.taints import PREFER_NO_SCHEDULE, is_tolerated
from hyperkube.machinery.objects import Object, annotations_of, controller_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask

BEST = 10
AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
AVOIDABLE = frozenset({"ReplicationController", "ReplicaSet"})
LEAST_BYTES, MOST_BYTES = 23 * 2**20, 1000 * 2**20


def _asked(pod: PodInfo, nodes: NodeTable) -> tuple[NDArray[np.int64], NDArray[np.int64], Mask]:
    """Return cpu and memory as [2, node]: requested with the pod there, allocatable, and where the first fits."""
    asked, has = nodes.non_zero_requested + pod.non_zero_requests, nodes.allocatable[:2]
    return asked, has, (has > 0) & (asked <= has)


class LeastRequestedPriority(ScorePlugin):
    """The mean of the free shares of cpu and memory, each a whole number; what does not fit scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, fits = _asked(pod, nodes)
        scores: IntScores = np.where(fits, (has - asked) * BEST // has.clip(min=1), 0).sum(axis=0) // 2
        return scores


class MostRequestedPriority(ScorePlugin):
    """The mean of the used shares of cpu and memory, each a whole number; what does not fit scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, fits = _asked(pod, nodes)
        scores: IntScores = np.where(fits, asked * BEST // has.clip(min=1), 0).sum(axis=0) // 2
        return scores


class BalancedResourceAllocation(ScorePlugin):
    """How close the used shares of cpu and memory are; a full node scores 0."""

    scope = Scope.NODE_AND_PODS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, 0 to `BEST`."""
        asked, has, _ = _asked(pod, nodes)
        shares = np.where(has > 0, asked / has.clip(min=1), 1.0)
        scores: IntScores = ((1 - np.abs(shares[0] - shares[1])) * BEST).astype(np.int64)
        return np.where((shares >= 1).any(axis=0), 0, scores)


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

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node: 0 for 23 MiB or less, `BEST` for 1000 MiB or more."""
        wanted = [_tagged(row["image"]) for row in pod.pod["spec"].get("containers") or () if row.get("image")]
        held = [_images(nodes.node(index)) for index in range(len(nodes))]
        sums = np.zeros(len(nodes), dtype=np.int64)
        for image in wanted:
            share = sum(image in each for each in held) / max(1, len(nodes))
            sums += np.array([int(each.get(image, 0) * share) for each in held], dtype=np.int64)
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


class EqualPriority(ScorePlugin):
    """Every node scores 1."""

    scope = Scope.NODE

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return ones."""
        return np.ones(len(nodes), dtype=np.int64)


def _tagged(image: str) -> str:
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def _images(node: Object) -> Mapping[str, int]:
    rows = node.get("status", {}).get("images") or ()
    return {name: int(row.get("sizeBytes") or 0) for row in rows for name in row.get("names") or ()}


def _avoided(text: str) -> set[tuple[str | None, str | None]]:
    """Return kind and uid of the controllers that an annotation names; one that cannot be read names none."""
    try:
        rows = [
            (row.get("podSignature") or {}).get("podController") or {} for row in orjson.loads(text)["preferAvoidPods"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()
    return {(row.get("kind"), row.get("uid")) for row in rows}
