"""What a definition's status says: which names it got, whether it is served, and what is amiss with it.

Source: kubernetes apiextensions-apiserver
``pkg/controller/{status/naming,establish/establishing,apiapproval/apiapproval,nonstructuralschema/nonstructuralschema}_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from hyperkube_lib.structural_schema.approval import approval, is_protected
from hyperkube_lib.structural_schema.structural_rules import unsupported, validate_structure

from hyperkube.kinds.conditions import condition, with_condition, without_condition
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object, copy_object

_APPROVALS = {
    "invalid": ("False", "InvalidAnnotation"),
    "missing": ("False", "MissingAnnotation"),
    "approved": ("True", "ApprovedAnnotation"),
    "bypassed": ("False", "UnapprovedAnnotation"),
}
_SPEC = Path("spec")


def next_status(crd: Object, others: Iterable[Object], now: datetime) -> Object:
    """Return the status that a definition should have.

    Args:
        crd: the definition, its names complete.
        others: the other definitions of its group.
        now: the time of what changes.
    """
    status = copy_object(crd.get("status") or {})
    conditions = status["conditions"] = status.get("conditions") or []
    _set_or_drop(conditions, "KubernetesAPIApprovalPolicyConformant", _approval(crd), now)
    accepted, conflict = _names(crd, others)
    status["acceptedNames"] = accepted
    established = condition_of(crd, "Established") == "True"
    if conflict is None:
        set_condition(conditions, "NamesAccepted", ("True", "NoConflicts", "no conflicts found"), now)
        if not established:
            text = "the initial names have been accepted"
            set_condition(conditions, "Established", ("True", "InitialNamesAccepted", text), now)
    else:
        set_condition(conditions, "NamesAccepted", ("False", *conflict), now)
        if not established:
            set_condition(conditions, "Established", ("False", "NotAccepted", "not all names are accepted"), now)
    _set_or_drop(conditions, "NonStructuralSchema", _non_structural(crd), now)
    stored = status["storedVersions"] = status.get("storedVersions") or []
    current = [version["name"] for version in crd["spec"]["versions"] if version.get("storage")]
    stored += [name for name in current if name not in stored]
    return status


def set_condition(conditions: list[Object], kind: str, state: tuple[str, str, str], now: datetime) -> None:
    """Set a condition in place to a status, a reason and a message; its time is that of the last new status."""
    status, reason, message = state
    new = {"type": kind, "status": status, "reason": reason, "message": message}
    conditions[:] = with_condition(conditions, new, now)


def condition_of(crd: Object, kind: str) -> str:
    """Return the status of a condition, empty when there is none."""
    found = condition(crd.get("status") or {}, kind)
    return str(found["status"]) if found is not None else ""


def _set_or_drop(conditions: list[Object], kind: str, state: tuple[str, str, str] | None, now: datetime) -> None:
    if state is not None:
        set_condition(conditions, kind, state, now)
    else:
        conditions[:] = without_condition(conditions, kind)


def _approval(crd: Object) -> tuple[str, str, str] | None:
    if not is_protected(crd["spec"]["group"]):
        return None
    state, message = approval(crd)
    return (*_APPROVALS[state], message)


def _non_structural(crd: Object) -> tuple[str, str, str] | None:
    errors: list[FieldError] = []
    if crd["spec"].get("preserveUnknownFields"):
        errors.append(invalid(_SPEC.child("preserveUnknownFields"), True, "must be false"))
    for index, version in enumerate(crd["spec"]["versions"]):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            continue
        if why := unsupported(schema):
            text = f"failed to check validation schema for version {version['name']}: {why}"
            return "Unknown", "StructuralError", text
        path = _SPEC.child("versions").index(index).child("schema", "openAPIV3Schema")
        errors += validate_structure(path, schema)
    if not errors:
        return None
    return "True", "Violations", aggregate(errors)


def _names(crd: Object, others: Iterable[Object]) -> tuple[Object, tuple[str, str] | None]:
    """Return the names a definition gets, and the reason and message of the last conflict."""
    wanted: Object = crd["spec"]["names"]
    had: Object = (crd.get("status") or {}).get("acceptedNames") or {}
    resources, kinds = _taken(others)
    names: Object = {"plural": "", "kind": "", **had}
    conflict: tuple[str, str] | None = None
    for member, used in (("plural", resources), ("singular", resources), ("shortNames", resources)):
        conflict = _accept(names, wanted, had, member, used) or conflict
    for member in ("kind", "listKind"):
        conflict = _accept(names, wanted, had, member, kinds) or conflict
    _take(names, wanted, "categories")
    order = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    return {member: names[member] for member in order if member in names}, conflict


def _taken(others: Iterable[Object]) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get("plural") or "", names.get("singular") or "", *(names.get("shortNames") or ())}
        kinds |= {names.get("kind") or "", names.get("listKind") or ""}
    return resources - {""}, kinds - {""}


def _accept(names: Object, wanted: Object, had: Object, member: str, used: set[str]) -> tuple[str, str] | None:
    """Take over a name, or say why it cannot be had."""
    given, before = wanted.get(member), had.get(member)
    new = [name for name in given or () if name not in (before or ())] if member == "shortNames" else [given]
    refused = [name for name in new if name in used and name != before]
    if refused:
        reason = f"{member[0].upper()}{member[1:]}Conflict"
        return reason, aggregate(f'"{name}" is already in use' for name in refused)
    _take(names, wanted, member)
    return None


def _take(names: Object, wanted: Object, member: str) -> None:
    if wanted.get(member):
        names[member] = wanted[member]
    else:
        names.pop(member, None)
