"""NodePreferAvoidPods: a node may ask, by annotation, not to be given the pods of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import orjson

from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.objects import Object, annotations_of, controller_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

ANNOTATION = "scheduler.alpha.kubernetes.io/preferAvoidPods"
KINDS = frozenset({"ReplicationController", "ReplicaSet"})


class NodePreferAvoidPods(ScorePlugin):
    """Scores nodes that avoid the pod's controller 0, all others `MAX_SCORE`; its usual weight is 10000.

    Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go``.
    """

    scope = Scope.NODE

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no controller that can be avoided."""
        owner = controller_of(pod.pod)
        return owner is None or owner.get("kind") not in KINDS

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return 0 where the controller is avoided."""
        owner = controller_of(pod.pod) or {}
        scores = np.full(len(nodes), MAX_SCORE, dtype=np.int64)
        for index in range(len(nodes)):
            text = annotations_of(nodes.node(index)).get(ANNOTATION)
            if text and any(_same(avoided, owner) for avoided in _avoided(text)):
                scores[index] = 0
        return scores


def _avoided(text: str) -> list[Object]:
    """Return the controllers that an annotation names; one that cannot be read names none, as upstream has it."""
    try:
        rows = orjson.loads(text).get("preferAvoidPods") or []
        return [(row.get("podSignature") or {}).get("podController") or {} for row in rows]
    except (ValueError, AttributeError):
        return []


def _same(avoided: Object, owner: Object) -> bool:
    return avoided.get("kind") == owner.get("kind") and avoided.get("uid") == owner.get("uid")
