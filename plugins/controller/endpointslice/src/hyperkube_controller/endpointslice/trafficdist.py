"""Hints that follow a service's ``trafficDistribution``: each ready endpoint for its own zone, or its own node too.

Source: kubernetes ``staging/src/k8s.io/endpointslice/trafficdist/trafficdist.go``.
"""

from __future__ import annotations

from hyperkube_controller.endpointslice.reconciler import SlicePlan

from hyperkube.machinery.objects import Object

PREFER_SAME_NODE = "PreferSameNode"
VALID = frozenset({"PreferClose", "PreferSameZone", PREFER_SAME_NODE})


def traffic_distribution(service: Object) -> str:
    """Return the service's ``trafficDistribution`` if it is one that hints are made for, else the empty string."""
    value = (service.get("spec") or {}).get("trafficDistribution")
    return value if value in VALID else ""


def is_ready(entry: Object) -> bool:
    """Tell whether an endpoint has the condition ready."""
    return bool((entry.get("conditions") or {}).get("ready"))


def reconcile_hints(plan: SlicePlan, distribution: str) -> None:
    """Give each ready endpoint of the plan the hints it should have; the others keep what they have."""
    for each in list(plan.unchanged):
        if any(is_ready(entry) and entry.get("hints") != _hints(entry, distribution) for entry in _entries(each)):
            plan.change(each)
    for each in [*plan.create, *plan.update]:
        each["endpoints"] = [_with_hints(entry, distribution) for entry in _entries(each)]


def remove_hints(plan: SlicePlan) -> None:
    """Take all hints off the plan's slices."""
    for each in list(plan.unchanged):
        if any(entry.get("hints") is not None for entry in _entries(each)):
            plan.change(each)
    for each in [*plan.create, *plan.update]:
        each["endpoints"] = [_plain(entry) if "hints" in entry else entry for entry in _entries(each)]


def _entries(slice_: Object) -> list[Object]:
    return slice_.get("endpoints") or []


def _hints(entry: Object, distribution: str) -> Object | None:
    hints: Object = {}
    if entry.get("zone"):
        hints["forZones"] = [{"name": entry["zone"]}]
    if entry.get("nodeName") and distribution == PREFER_SAME_NODE:
        hints["forNodes"] = [{"name": entry["nodeName"]}]
    return hints or None


def _with_hints(entry: Object, distribution: str) -> Object:
    if not is_ready(entry):
        return entry
    hints = _hints(entry, distribution)
    return _plain(entry) | ({"hints": hints} if hints else {})


def _plain(entry: Object) -> Object:
    return {key: value for key, value in entry.items() if key != "hints"}
