"""What happens when a Deployment is created, changed or deleted.

Source: kubernetes pkg/registry/apps/deployment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.apps.workloads import WorkloadStrategy
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object

_default_deployment: OnFirstUse[None] = OnFirstUse("hyperkube_api.apps.deployments.defaults:default_deployment")
_validate_deployment: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.deployments.validation:validate_deployment"
)
_validate_deployment_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.deployments.validation:validate_deployment_update"
)
_validate_deployment_status: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.deployments.validation:validate_deployment_status"
)


class DeploymentStrategy(WorkloadStrategy):
    """Replica sets that roll from one template to the next."""

    metadata_checks = ("change",)
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata.labels")}

    def default(self, obj: Object) -> None:
        """Fill in replicas, strategy and template."""
        _default_deployment.call(obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count a change of annotations as one of the specification: the controller copies them."""
        meta, before = obj["metadata"], old["metadata"]
        if (meta.get("annotations") or {}) != (before.get("annotations") or {}):
            meta["generation"] = (before.get("generation") or 0) + 1

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Keep the labels."""
        labels = old["metadata"].get("labels")
        if labels:
            obj["metadata"]["labels"] = labels
        else:
            obj["metadata"].pop("labels", None)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check replicas, selector, template and strategy."""
        return _validate_deployment.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return _validate_deployment_update.call(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return _validate_deployment_status.call(obj, old)
