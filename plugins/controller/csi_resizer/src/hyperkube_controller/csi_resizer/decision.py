"""To which size a volume is to grow now, and what the claim says at each step.

Source: external-resizer ``pkg/controller/expand_and_recover.go``, ``resize_status.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from hyperkube.kinds.conditions import with_condition, without_condition
from hyperkube.machinery.objects import Object, is_being_deleted
from hyperkube.machinery.quantity import parse

STORAGE = "storage"
RESIZING, NODE_PENDING, CONTROLLER_ERROR = "Resizing", "FileSystemResizePending", "ControllerResizeError"
_OURS = (RESIZING, NODE_PENDING, CONTROLLER_ERROR, "NodeResizeError")
IN_PROGRESS, INFEASIBLE, ON_NODE = "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizePending"
_NODES = frozenset({ON_NODE, "NodeResizeInProgress"})
_ON_NODE_TEXT = "Waiting for user to (re-)start a pod to finish file system resize of volume on node."
INFEASIBLE_CODES = frozenset({"INVALID_ARGUMENT", "OUT_OF_RANGE", "NOT_FOUND"})


def resize_state(claim: Object) -> str:
    """Return how far the growth of a claim is, empty if none is under way."""
    return str(((claim.get("status") or {}).get("allocatedResourceStatuses") or {}).get(STORAGE, ""))


def allocated(claim: Object) -> str:
    """Return the size that the last growth was begun with, empty if there was none."""
    return str(((claim.get("status") or {}).get("allocatedResources") or {}).get(STORAGE) or "")


def wants_more(claim: Object) -> bool:
    """Tell whether a bound claim asks for more than it has."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    asked = ((spec.get("resources") or {}).get("requests") or {}).get(STORAGE)
    has = (status.get("capacity") or {}).get(STORAGE)
    is_bound = status.get("phase") == "Bound" and spec.get("volumeName") and not is_being_deleted(claim)
    return bool(is_bound and asked and has and parse(str(asked)).value() > parse(str(has)).value())


def next_size(claim: Object, volume: Object, *, failed_finally: bool) -> str:
    """Return the size that the driver is asked for now; empty if it is not asked.

    What was begun is ended first, unless the driver has certainly refused it: then the claim may ask for less.

    Args:
        claim: one that `wants_more`.
        volume: its volume.
        failed_finally: whether the last attempt has left nothing under way.
    """
    asked = str(claim["spec"]["resources"]["requests"][STORAGE])
    has = parse(str((volume["spec"].get("capacity") or {}).get(STORAGE, "0"))).value()
    state, begun = resize_state(claim), allocated(claim) or asked
    if has < parse(asked).value():
        if state in _NODES:
            return "" if has >= parse(begun).value() else begun
        if state == "NodeResizeInfeasible" or (state == IN_PROGRESS and not failed_finally):
            return begun
        return asked
    return "" if state in _NODES else begun


def begun(claim: Object, size: str, now: datetime) -> Object:
    """Return the claim of which the growth begins."""
    status = claim.get("status") or {}
    conditions = with_condition(_others(status), {"type": RESIZING, "status": "True"}, now)
    return _with(
        claim,
        conditions=conditions,
        allocatedResourceStatuses={**(status.get("allocatedResourceStatuses") or {}), STORAGE: IN_PROGRESS},
        allocatedResources={**(status.get("allocatedResources") or {}), STORAGE: size},
    )


def failed(claim: Object, why: str, now: datetime, *, is_infeasible: bool) -> Object:
    """Return the claim whose growth was refused."""
    status = claim.get("status") or {}
    told = {"type": CONTROLLER_ERROR, "status": "True", "message": f"failed to expand pvc with {why}"}
    kept = without_condition(status.get("conditions") or (), CONTROLLER_ERROR)
    states = {**(status.get("allocatedResourceStatuses") or {})}
    if is_infeasible:
        states[STORAGE] = INFEASIBLE
    return _with(claim, conditions=with_condition(kept, told, now), allocatedResourceStatuses=states)


def on_node(claim: Object, now: datetime) -> Object:
    """Return the claim of which the rest is the node's."""
    status = claim.get("status") or {}
    told = {"type": NODE_PENDING, "status": "True", "message": _ON_NODE_TEXT}
    states = {**(status.get("allocatedResourceStatuses") or {}), STORAGE: ON_NODE}
    return _with(claim, conditions=with_condition(_others(status), told, now), allocatedResourceStatuses=states)


def finished(claim: Object, size: str) -> Object:
    """Return the claim that has grown."""
    status = claim.get("status") or {}
    rest = {key: value for key, value in (status.get("allocatedResourceStatuses") or {}).items() if key != STORAGE}
    capacity = {**(status.get("capacity") or {}), STORAGE: size}
    done = _with(claim, conditions=_others(status), capacity=capacity, allocatedResourceStatuses=rest)
    if not rest:
        del done["status"]["allocatedResourceStatuses"]
    return done


def _others(status: Object) -> list[Object]:
    conditions: Iterable[Object] = status.get("conditions") or ()
    for kind in _OURS:
        conditions = without_condition(conditions, kind)
    return list(conditions)


def _with(claim: Object, **fields: object) -> Object:
    return {**claim, "status": {**(claim.get("status") or {}), **fields}}
