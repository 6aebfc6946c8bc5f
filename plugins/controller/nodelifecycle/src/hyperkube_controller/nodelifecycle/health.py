"""Judging a node: is it heard of, and which taints and labels follow from its state.

Pure functions. Source: kubernetes ``pkg/controller/nodelifecycle/node_lifecycle_controller.go``.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.kinds import taints
from hyperkube.kinds.conditions import condition
from hyperkube.machinery.objects import Object, labels_of, metadata
from hyperkube.machinery.times import format_time

_WATCHED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_BY_CONDITION = {
    ("MemoryPressure", "True"): taints.MEMORY_PRESSURE,
    ("DiskPressure", "True"): taints.DISK_PRESSURE,
    ("PIDPressure", "True"): taints.PID_PRESSURE,
    ("NetworkUnavailable", "True"): taints.NETWORK_UNAVAILABLE,
    ("Ready", "False"): taints.NOT_READY,
    ("Ready", "Unknown"): taints.UNREACHABLE,
}
_MANAGED = frozenset({*_BY_CONDITION.values(), taints.UNSCHEDULABLE})
_EVICTING = frozenset({taints.NOT_READY, taints.UNREACHABLE})


def silenced(node: Object, now: datetime) -> Object | None:
    """Return the status of a node that was not heard of for too long, or None when it is said to be Unknown already."""
    status = node.get("status") or {}
    ready = condition(status, "Ready")
    if ready is not None and ready.get("status") == "Unknown":
        return None
    conditions = list(status.get("conditions") or [])
    for kind in _WATCHED:
        found = condition(status, kind)
        if found is None:
            created = metadata(node).get("creationTimestamp") or format_time(now)
            conditions.append({
                "type": kind,
                "status": "Unknown",
                "reason": "NodeStatusNeverUpdated",
                "message": "Kubelet never posted node status.",
                "lastHeartbeatTime": created,
                "lastTransitionTime": format_time(now),
            })  # fmt: skip
        elif found["status"] != "Unknown":
            said = {
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": format_time(now),
            }
            conditions[conditions.index(found)] = {**found, **said}
    return {**status, "conditions": conditions}


def is_evicting(node: Object) -> bool:
    """Tell whether the node has a taint that evicts pods because it is not ready."""
    listed = (node.get("spec") or {}).get("taints") or ()
    return any(taint.get("effect") == taints.NO_EXECUTE and taint.get("key") in _EVICTING for taint in listed)


def wanted_taints(node: Object, now: datetime, *, evict: bool) -> list[Object]:
    """Return the taints that the node should have: its own, and those that follow from its state.

    Args:
        node: the node.
        now: what new taints are stamped with.
        evict: whether one that is not ready may have the taint that evicts its pods; one without a Ready condition
            keeps what it has of them then.
    """
    present: list[Object] = (node.get("spec") or {}).get("taints") or []
    status = node.get("status") or {}
    wanted: list[tuple[str, str]] = []
    for (kind, state), key in _BY_CONDITION.items():
        found = condition(status, kind)
        if found is not None and found.get("status") == state:
            wanted.append((key, taints.NO_SCHEDULE))
            if kind == "Ready" and evict:
                wanted.append((key, taints.NO_EXECUTE))
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((taints.UNSCHEDULABLE, taints.NO_SCHEDULE))
    if evict and condition(status, "Ready") is None:
        wanted += [(taint["key"], taint["effect"]) for taint in present if taint.get("effect") == taints.NO_EXECUTE]
    kept = [taint for taint in present if not _is_managed(taint) or (taint.get("key"), taint.get("effect")) in wanted]
    have = {(taint.get("key"), taint.get("effect")) for taint in kept}
    stamp = format_time(now)
    made = [{"key": key, "effect": effect, "timeAdded": stamp} for key, effect in wanted if (key, effect) not in have]
    return [*kept, *made]


def _is_managed(taint: Object) -> bool:
    """Tell whether the taint follows from the node's state, so that it goes when that changes."""
    key, effect = taint.get("key"), taint.get("effect")
    return (effect == taints.NO_SCHEDULE and key in _MANAGED) or (effect == taints.NO_EXECUTE and key in _EVICTING)


def wanted_labels(node: Object) -> dict[str, str]:
    """Return the labels to set: the beta names of operating system and architecture say what the present ones do."""
    labels = labels_of(node)
    pairs = ((name, f"beta.{name}") for name in ("kubernetes.io/os", "kubernetes.io/arch"))
    return {beta: labels[name] for name, beta in pairs if name in labels and labels.get(beta) != labels[name]}


def what_counts(node: Object) -> tuple[object, ...]:
    """Return what of a node its taints, labels and zone follow from: no heartbeat, and no image."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    states = tuple((entry.get("type"), entry.get("status")) for entry in status.get("conditions") or ())
    return states, spec.get("taints"), spec.get("unschedulable"), labels_of(node)
