"""Pod templates and replication controllers.

Source: kubernetes pkg/registry/core/podtemplate and pkg/registry/core/replicationcontroller.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.objects import default_replication_controller
from hyperkube_api.core.defaults.pod_specs import default_template
from hyperkube_api.core.validation.controllers import (
    validate_pod_template_object,
    validate_replication_controller,
    validate_replication_controller_status,
)
from hyperkube_api.core.warnings import template_warnings, workload_name_warnings
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class PodTemplateStrategy(Strategy):
    """A pod template on its own, for whoever makes pods from it."""

    generation = True
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the template."""
        default_template(obj.get("template"))

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the template."""
        return validate_pod_template_object(obj, privileged=bool(call.options.get("allow-privileged", True)))

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the template."""
        return template_warnings(obj.get("template"), "template", (old or {}).get("template"))


class ReplicationControllerStrategy(StatusStrategy):
    """The replica set of old, with a map for a selector."""

    generation = True
    default_gc = "Orphan"

    def default(self, obj: Object) -> None:
        """Fill in the selector, the replicas and the template."""
        default_replication_controller(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Nothing runs yet."""
        obj["status"] = {"replicas": 0}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the controller."""
        return validate_replication_controller(obj, privileged=bool(call.options.get("allow-privileged", True)))

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validate_replication_controller_status(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the name and the template."""
        if not changed_generation(obj, old):
            return []
        named = workload_name_warnings(obj) if old is None else []
        return named + template_warnings(obj["spec"].get("template"), "spec.template", None)
