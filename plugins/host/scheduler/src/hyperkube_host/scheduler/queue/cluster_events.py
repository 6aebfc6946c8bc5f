"""Events in the cluster that may make a pod schedulable, by the short names that plugins register for.

Source of the names in metrics: kubernetes ``pkg/scheduler/framework/events.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.machinery.objects import Object, labels_of

NODE, NODE_DELETED = "node", "node gone"
POD, POD_DELETED = "pod", "pod gone"
"""Of pods that have a node: placed or relabelled, ended or deleted or made smaller."""
WILDCARD = "*"
"""An event that may help every pod."""
LABELS = {
    NODE: "NodeUpdate", NODE_DELETED: "NodeDelete", POD: "AssignedPodAdd", POD_DELETED: "AssignedPodDelete",
    WILDCARD: "ForceActivate",
}  # fmt: skip
"""Event → its name in metrics."""
UNSCHEDULED_POD_ADD, UNSCHEDULED_POD_UPDATE = "UnscheduledPodAdd", "UnscheduledPodUpdate"
SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE, UNSCHEDULABLE_TIMEOUT = "BackoffComplete", "UnschedulableTimeout"
"""Reasons in metrics for which a pod enters a part of the queue without an event in the cluster."""

QueueingHint = Callable[[str, str], bool]
"""Whether an event, the second argument, may help a pod that the plugin, the first, rejected."""


def label(event: str) -> str:
    """Return what an event is called in metrics; the plugins' own ones keep their names."""
    return LABELS.get(event, event)


def is_pod_updated(before: Object, pod: Object) -> bool:
    """Tell whether a change of a pod may decide where it can go: its spec, labels, or the claims made for it."""
    return (
        before.get("spec") != pod.get("spec")
        or labels_of(before) != labels_of(pod)
        or (before.get("status") or {}).get("resourceClaimStatuses")
        != (pod.get("status") or {}).get("resourceClaimStatuses")
    )
