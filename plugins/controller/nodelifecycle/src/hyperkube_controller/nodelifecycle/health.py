"""Judging a node: is it heard of, which taints follow from its conditions, and when must which pod go.

Pure functions. Sources: kubernetes ``pkg/controller/nodelifecycle/node_lifecycle_controller.go`` and
``pkg/controller/tainteviction/taint_eviction.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hyperkube.kinds import taints
from hyperkube.kinds.conditions import condition
from hyperkube.machinery.objects import Object, metadata
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


def silenced(node: Object, now: datetime) -> Object | None:
    """Return the status of a node that was not heard of for too long, or None when it says so already."""
    status = node.get("status") or {}
    conditions = list(status.get("conditions") or [])
    changed = False
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
            changed = True
        elif found["status"] != "Unknown":
            said = {
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": format_time(now),
            }
            conditions[conditions.index(found)] = {**found, **said}
            changed = True
    return {**status, "conditions": conditions} if changed else None


def wanted_taints(node: Object, now: datetime) -> list[Object]:
    """Return the taints that the node should have: its own, and those that follow from its state."""
    present: list[Object] = (node.get("spec") or {}).get("taints") or []
    status = node.get("status") or {}
    wanted: list[tuple[str, str]] = []
    for (kind, state), key in _BY_CONDITION.items():
        found = condition(status, kind)
        if found is not None and found.get("status") == state:
            wanted.append((key, taints.NO_SCHEDULE))
            if kind == "Ready":
                wanted.append((key, taints.NO_EXECUTE))
    if (node.get("spec") or {}).get("unschedulable"):
        wanted.append((taints.UNSCHEDULABLE, taints.NO_SCHEDULE))
    kept = [
        taint
        for taint in present
        if taint.get("key") not in _MANAGED or (taint.get("key"), taint.get("effect")) in wanted
    ]
    have = {(taint.get("key"), taint.get("effect")) for taint in kept}
    made: list[Object] = []
    for key, effect in wanted:
        if (key, effect) not in have:
            stamp = {"timeAdded": format_time(now)} if effect == taints.NO_EXECUTE else {}
            made.append({"key": key, "effect": effect, **stamp})
    return [*kept, *made]


def no_execute(node: Object | None) -> list[Object]:
    """Return the taints that drive pods off the node."""
    listed: list[Object] = ((node or {}).get("spec") or {}).get("taints") or []
    return [taint for taint in listed if taint.get("effect") == taints.NO_EXECUTE]


def seconds_left(pod: Object, driving: Sequence[Object]) -> float | None:
    """Return how long the pod may stay under these taints: 0 for not at all, None for ever."""
    return taints.eviction_seconds(driving, (pod.get("spec") or {}).get("tolerations") or [])
