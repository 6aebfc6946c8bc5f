"""Priority classes: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/scheduling/priorityclass.
"""

from __future__ import annotations

from hyperkube_api.scheduling.validation import validate_priority_class, validate_priority_class_update

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import FieldError
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


class PriorityClassStrategy(Strategy):
    """How much a pod matters; its generation never moves."""

    def default(self, obj: Object) -> None:
        """Fill in whether others are preempted."""
        if obj.get("preemptionPolicy") is None:
            obj["preemptionPolicy"] = "PreemptLowerPriority"

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Begin at the first generation."""
        obj["metadata"]["generation"] = 1

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Stay at the generation there was."""
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
