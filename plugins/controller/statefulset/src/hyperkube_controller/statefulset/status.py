"""What a stateful set says about itself.

Source: kubernetes ``pkg/controller/statefulset/stateful_set_control.go`` (updateStatus) and ``stateful_set_utils.go``
(completeRollingUpdate).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperkube_controller.statefulset.pods import is_rolling, revision_of

from hyperkube.kinds.pods import is_ready, phase
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of

if TYPE_CHECKING:
    from hyperkube_controller.statefulset.observed import Observed


def status_of(observed: Observed, collision_count: int, replaced: int = 0) -> dict[str, Any]:
    """Return the status that the pods amount to; a finished update makes the update revision the current one.

    Args:
        observed: what there was before this sync acted.
        collision_count: how often the name of a revision was taken by another template.
        replaced: how many pods this sync deleted for an update.
    """
    stateful_set = observed.stateful_set
    created = [pod for pod in observed.pods if phase(pod)]
    ready = [pod for pod in created if phase(pod) == "Running" and is_ready(pod)]

    def of(revision: Object) -> int:
        return sum(revision_of(pod) == name_of(revision) and not is_being_deleted(pod) for pod in created)

    updated, current, current_replicas = of(observed.update), observed.current, of(observed.current) - replaced
    wanted = (stateful_set.get("spec") or {}).get("replicas", 1)
    if is_rolling(stateful_set) and updated == len(ready) == len(created) == wanted:
        current, current_replicas = observed.update, updated
    return {
        "observedGeneration": metadata(stateful_set).get("generation"),
        "replicas": len(created),
        "readyReplicas": len(ready) or None,
        "availableReplicas": sum(observed.is_available(pod) for pod in ready),
        "currentReplicas": current_replicas or None,
        "updatedReplicas": updated or None,
        "currentRevision": name_of(current),
        "updateRevision": name_of(observed.update),
        "collisionCount": collision_count,
    }
