"""Pods that are resized in place: a node owes them the most of what they ask for, were allotted, and have.

A container that is made smaller keeps what it has until its kubelet took it away; one that is made larger may have to
wait for it. Source: kubernetes component-helpers ``resource/helpers.go`` (determineContainerReqs,
determineContainerLimits).
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube.kinds.pods import is_sidecar
from hyperkube.kinds.resource_lists import raise_to, read, write
from hyperkube.machinery.objects import Object

INFEASIBLE = "Infeasible"
_GROUPS = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))


def resized_statuses(pod: Object) -> Object:
    """Return the statuses of containers that have, or were allotted, something else than they ask for.

    Such as ``{"containerStatuses": [{"name": …, "resources": {"requests": …}, "allocatedResources": …}]}``; empty for
    nearly all pods.
    """
    found: Object = {}
    for group, statuses in _GROUPS:
        rows = (pod.get("status") or {}).get(statuses)
        unlike = [*_unlike(pod, group, rows)] if rows else []
        if unlike:
            found[statuses] = unlike
    return found


def is_infeasible(pod: Object) -> bool:
    """Tell whether the kubelet said that the node can never give the pod what it asks for."""
    rows = (pod.get("status") or {}).get("conditions") or ()
    return any(row.get("type") == "PodResizePending" and row.get("reason") == INFEASIBLE for row in rows)


def with_effective_requests(pod: Object) -> Object:
    """Return the pod as one that asks for what its node owes it: itself, or a copy with other requests."""
    unlike = resized_statuses(pod)
    if not unlike:
        return pod
    hopeless = is_infeasible(pod)
    spec = dict(pod["spec"])
    for group, statuses in _GROUPS:
        rows = {row["name"]: row for row in unlike.get(statuses) or ()}
        spec[group] = [
            _owed(each, rows[each["name"]], hopeless=hopeless) if each["name"] in rows else each
            for each in spec.get(group) or ()
        ]
    return {**pod, "spec": spec}


def with_effective_limits(pod: Object) -> Object:
    """Return the pod as one with the limits that hold for it while it is resized: the larger of asked and real ones."""
    status = pod.get("status") or {}
    found = {
        group: {row.get("name"): row["resources"].get("limits") for row in status.get(statuses) or () if _limited(row)}
        for group, statuses in _GROUPS
    }
    if not any(found.values()):
        return pod
    hopeless = is_infeasible(pod)
    spec = dict(pod["spec"])
    for group, _ in _GROUPS:
        spec[group] = [
            _limited_to(each, found[group][each.get("name")], hopeless=hopeless)
            if each.get("name") in found[group] and (group == "containers" or is_sidecar(each))
            else each
            for each in spec.get(group) or ()
        ]
    return {**pod, "spec": spec}


def _limited(status: Object) -> bool:
    return bool((status.get("resources") or {}).get("limits"))


def _limited_to(container: Object, has: dict[str, str], *, hopeless: bool) -> Object:
    limits = read(has)
    if not hopeless:
        raise_to(limits, read((container.get("resources") or {}).get("limits")))
    return {**container, "resources": {**(container.get("resources") or {}), "limits": write(limits)}}


def _unlike(pod: Object, group: str, rows: list[Object]) -> Iterator[Object]:
    asked = {
        each["name"]: (each.get("resources") or {}).get("requests") or {}
        for each in (pod.get("spec") or {}).get(group) or ()
        if group == "containers" or is_sidecar(each)
    }
    for row in rows:
        name = row.get("name")
        if row.get("resources") is None or name not in asked:
            continue
        has = row["resources"].get("requests") or {}
        allotted = row.get("allocatedResources") or {}
        if has != asked[name] or (allotted and allotted != asked[name]):
            yield {"name": name, "resources": {"requests": has}, "allocatedResources": allotted}


def _owed(container: Object, status: Object, *, hopeless: bool) -> Object:
    owed = read(status["resources"]["requests"])
    raise_to(owed, read(status["allocatedResources"]))
    if not hopeless:
        raise_to(owed, read((container.get("resources") or {}).get("requests")))
    return {**container, "resources": {**(container.get("resources") or {}), "requests": write(owed)}}
