"""PriorityClasses: which pods matter more.

Source: kubernetes pkg/apis/scheduling, pkg/registry/scheduling/priorityclass, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import unchanged
from hyperkube_api.scheduling.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import ROOT, FieldError, forbidden, not_supported, required
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, name_of

SYSTEM_CLASSES = (
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
)
"""(name, value, description) of the classes of every cluster; kubernetes ``pkg/apis/scheduling/v1/helpers.go``."""

_SYSTEM_PRIORITIES = {name: value for name, value, _ in SYSTEM_CLASSES}
HIGHEST_USER_PRIORITY = 1_000_000_000
_POLICIES = ("PreemptLowerPriority", "Never")
_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "


def validate_priority_class(obj: Object) -> list[FieldError]:
    """Check a priority class."""
    name, value = name_of(obj), obj.get("value") or 0
    errors: list[FieldError] = []
    if name.startswith("system-"):
        known = _SYSTEM_PRIORITIES.get(name)
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


def priority_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return value, preemption policy, and whether the class is the default."""
    return [
        cells.name(obj),
        obj.get("value") or 0,
        bool(obj.get("globalDefault")),
        cells.age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


class PriorityClassStrategy(Strategy):
    """How much a pod matters; its generation never changes."""

    metadata_checks = ("change",)

    def default(self, obj: Object) -> None:
        """Fill in whether others are preempted."""
        if obj.get("preemptionPolicy") is None:
            obj["preemptionPolicy"] = "PreemptLowerPriority"

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start at the first generation."""
        obj["metadata"]["generation"] = 1

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the generation."""
        if old["metadata"].get("generation"):
            obj["metadata"]["generation"] = old["metadata"]["generation"]

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check name and value."""
        return validate_priority_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that value and policy stayed."""
        return validate_priority_class_update(obj, old)

    def before_delete(self, call: Call, obj: Object) -> None:
        """Keep the classes of the cluster's own components."""
        if any(name_of(obj) == name for name, _, _ in SYSTEM_CLASSES):
            resource = GroupResource("scheduling.k8s.io", "priorityclasses")
            why = "this is a system priority class and cannot be deleted"
            raise Forbidden.about(resource, name_of(obj), why)


def priority_classes() -> ResourceSpec:
    """Return the specification of the resource ``priorityclasses``."""
    return V1.resource(
        "priorityclasses",
        "PriorityClass",
        namespaced=False,
        short_names=("pc",),
        storage_prefix="priorityclasses",
        storage_version_hash="1QwjyaZjj3Y=",
        strategy=PriorityClassStrategy(),
        columns=(
            NAME,
            column("Value", type="integer", field="value"),
            column("Global-Default", type="boolean", field="globalDefault"),
            AGE,
            column("PreemptionPolicy", field="preemptionPolicy"),
        ),
        cells=priority_class_cells,
    )
