"""What a daemon set says about itself.

Source: kubernetes ``pkg/controller/daemon/daemon_controller.go`` (updateDaemonSetStatus).
"""

from __future__ import annotations

from typing import Any

from hyperkube_controller.daemonset.observed import Observed

from hyperkube.kinds.pods import is_ready
from hyperkube.machinery.objects import metadata, name_of


def status_of(observed: Observed, collision_count: int, *, processed: bool) -> dict[str, Any]:
    """Return the status that nodes and pods amount to.

    Args:
        observed: what there is.
        collision_count: how often the name of a revision was taken by another template.
        processed: whether this generation was acted on, or only looked at while expectations are open.
    """
    from hyperkube_controller.daemonset.pods import by_age, is_updated, node_should_run_daemon_pod

    daemon_set = observed.daemon_set
    before = daemon_set.get("status") or {}
    counts = dict.fromkeys(("desired", "current", "misplaced", "ready", "available", "updated"), 0)
    for node in observed.nodes:
        there = by_age(observed.by_node.get(name_of(node), ()))
        if not node_should_run_daemon_pod(daemon_set, node)[0]:
            counts["misplaced"] += bool(there)
            continue
        counts["desired"] += 1
        if there:
            oldest = there[0]
            counts["current"] += 1
            counts["ready"] += is_ready(oldest)
            counts["available"] += observed.is_available(oldest)
            counts["updated"] += is_updated(daemon_set, oldest, observed.digest)
    return {
        "observedGeneration": metadata(daemon_set).get("generation") if processed else before.get("observedGeneration"),
        "desiredNumberScheduled": counts["desired"],
        "currentNumberScheduled": counts["current"],
        "numberMisscheduled": counts["misplaced"],
        "numberReady": counts["ready"],
        "updatedNumberScheduled": counts["updated"] or None,
        "numberAvailable": counts["available"] or None,
        "numberUnavailable": (counts["desired"] - counts["available"]) or None,
        "collisionCount": collision_count or before.get("collisionCount"),
    }
