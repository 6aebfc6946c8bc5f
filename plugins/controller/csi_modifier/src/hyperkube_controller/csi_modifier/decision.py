"""Which attributes a volume gets now, and what its claim says at each step.

Source: external-resizer ``pkg/modifycontroller/modify_volume.go`` (modify), ``modify_status.go``.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.kinds.conditions import with_condition, without_condition
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted

MODIFYING, MODIFY_ERROR = "ModifyingVolume", "ModifyVolumeError"
IN_PROGRESS, INFEASIBLE, PENDING = "InProgress", "Infeasible", "Pending"


@dataclass(frozen=True, slots=True)
class Modify:
    """Give the volume the attributes of a class.

    Attributes:
        target: the class.
        is_new: the claim does not say yet that this is under way.
    """

    target: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop trying: the claim asks for no class any more, and nothing is under way."""


def asked_class(claim: Object) -> str:
    """Return the class that a claim asks for, empty if it asks for none."""
    return str((claim.get("spec") or {}).get("volumeAttributesClassName") or "")


def target_class(claim: Object) -> str:
    """Return the class that the last modification was about, empty if it came to its end."""
    return str(_modification(claim).get("targetVolumeAttributesClassName") or "")


def modify_state(claim: Object) -> str:
    """Return how far the modification of a claim's volume is, empty if none is under way."""
    return str(_modification(claim).get("status") or "")


def wants_change(claim: Object) -> bool:
    """Tell whether a bound claim asks for other attributes than its volume has, or a modification is under way."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    if status.get("phase") != "Bound" or not spec.get("volumeName") or is_being_deleted(claim):
        return False
    return bool(modify_state(claim)) or asked_class(claim) != (status.get("currentVolumeAttributesClassName") or "")


def next_step(claim: Object, *, failed_finally: bool) -> Modify | Cancel | None:
    """Return what to do for a claim that `wants_change`.

    What may be under way at the driver is ended before anything else is begun: the claim's wish may have changed since.

    Args:
        claim: the claim.
        failed_finally: whether the last call has certainly left nothing under way.
    """
    asked, state = asked_class(claim), modify_state(claim)
    is_under_way = state == IN_PROGRESS and bool(target_class(claim))
    if is_under_way and (not failed_finally or not asked):
        return Modify(target_class(claim), is_new=False)
    if not asked:
        conditions = (claim.get("status") or {}).get("conditions") or ()
        return Cancel() if any(row.get("type") in {MODIFYING, MODIFY_ERROR} for row in conditions) else None
    return Modify(asked, is_new=True)


def begun(claim: Object, target: str, now: datetime) -> Object:
    """Return the claim whose volume is being modified."""
    told = {"type": MODIFYING, "status": "True", "message": "ModifyVolume operation in progress."}
    return _with(
        claim, told, now, modifyVolumeStatus={"targetVolumeAttributesClassName": target, "status": IN_PROGRESS}
    )


def pending(claim: Object) -> Object:
    """Return the claim that asks for a class that cannot be used yet."""
    status = claim.get("status") or {}
    return {**claim, "status": {**status, "modifyVolumeStatus": {**_modification(claim), "status": PENDING}}}


def failed(claim: Object, why: str, now: datetime, *, is_infeasible: bool) -> Object:
    """Return the claim whose modification was refused."""
    message = f"ModifyVolume failed with error: {why}. Waiting for retry."
    told = {"type": MODIFY_ERROR, "status": "True", "message": message}
    state = INFEASIBLE if is_infeasible else IN_PROGRESS
    return _with(claim, told, now, modifyVolumeStatus={**_modification(claim), "status": state})


def cancelled(claim: Object) -> Object:
    """Return the claim of which nothing is said about a modification any more but how the last one ended."""
    status = claim.get("status") or {}
    return {**claim, "status": {**status, "conditions": _others(status)}}


def finished(claim: Object, target: str) -> Object:
    """Return the claim whose volume has the attributes of a class."""
    status = {key: value for key, value in (claim.get("status") or {}).items() if key != "modifyVolumeStatus"}
    return {**claim, "status": {**status, "currentVolumeAttributesClassName": target, "conditions": _others(status)}}


def _modification(claim: Object) -> Object:
    return (claim.get("status") or {}).get("modifyVolumeStatus") or {}


def _others(status: Object) -> list[Object]:
    return without_condition(without_condition(status.get("conditions") or (), MODIFYING), MODIFY_ERROR)


def _with(claim: Object, condition: Object, now: datetime, **fields: object) -> Object:
    """Return the claim with the one condition of a modification, the same as before if it says nothing new."""
    status = claim.get("status") or {}
    other = MODIFY_ERROR if condition["type"] == MODIFYING else MODIFYING
    kept = without_condition(status.get("conditions") or (), other)
    return {**claim, "status": {**status, **fields, "conditions": with_condition(kept, condition, now)}}
