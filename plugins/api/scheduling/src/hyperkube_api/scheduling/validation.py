"""What is wrong with priority classes.

Source: kubernetes pkg/apis/scheduling/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.meta.validation import unchanged

from hyperkube.machinery.field import ROOT, FieldError, forbidden, not_supported, required
from hyperkube.machinery.objects import Object, name_of

SYSTEM_CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
HIGHEST_USER_PRIORITY = 1_000_000_000
_POLICIES = ("PreemptLowerPriority", "Never")
_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "


def validate_priority_class(obj: Object) -> list[FieldError]:
    """Check a priority class."""
    name, value = name_of(obj), obj.get("value") or 0
    errors: list[FieldError] = []
    if name.startswith("system-"):
        known = SYSTEM_CLASSES.get(name)
        if known is None:
            why = f"{name} is not a known system priority class"
        elif value != known:
            why = f"value of {name} PriorityClass must be {known}"
        elif obj.get("globalDefault"):
            why = f"globalDefault of {name} PriorityClass must be false"
        else:
            why = ""
        if why:
            errors.append(forbidden(ROOT.child("metadata", "name"), _RESERVED + why))
    elif value > HIGHEST_USER_PRIORITY:
        text = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        errors.append(forbidden(ROOT.child("value"), text))
    policy, path = obj.get("preemptionPolicy"), ROOT.child("preemptionPolicy")
    if policy == "":
        errors.append(required(path))
    elif policy is not None and policy not in _POLICIES:
        errors.append(not_supported(path, policy, _POLICIES))
    return errors


def validate_priority_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a priority class."""
    errors: list[FieldError] = []
    if (obj.get("value") or 0) != (old.get("value") or 0):
        errors.append(forbidden(ROOT.child("value"), "may not be changed in an update."))
    path = ROOT.child("preemptionPolicy")
    return errors + unchanged(path, obj.get("preemptionPolicy"), old.get("preemptionPolicy"))
