"""How a replication controller is created and updated.

Source: kubernetes pkg/registry/core/replicationcontroller/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.warnings import template_warnings
from hyperkube_api.core.pod_specs.warnings.names import workload_name_warnings
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class ReplicationControllerStrategy(StatusStrategy):
    """What ReplicaSet replaced: its selector is a map of labels."""

    generation = True
    default_gc = "Orphan"

    def default(self, obj: Object) -> None:
        """Fill in the selector, the replicas and the template."""
        from hyperkube_api.core.replication_controllers.defaults import default_replication_controller

        default_replication_controller(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Nothing runs yet."""
        obj["status"] = {"replicas": 0}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the controller."""
        from hyperkube_api.core.replication_controllers.validation import validate_replication_controller

        return validate_replication_controller(obj, privileged=call.services.allow_privileged)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        from hyperkube_api.core.replication_controllers.validation import validate_replication_controller_status

        return validate_replication_controller_status(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the name and the template."""
        if not changed_generation(obj, old):
            return []
        named = workload_name_warnings(obj) if old is None else []
        return named + template_warnings(obj["spec"].get("template"), "spec.template", None)
