"""What happens when a Deployment is created, changed or deleted.

Source: kubernetes pkg/registry/apps/deployment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.apps.workloads import WorkloadStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class DeploymentStrategy(WorkloadStrategy):
    """Replica sets that roll from one template to the next."""

    metadata_checks = ("change",)
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata.labels")}

    def default(self, obj: Object) -> None:
        """Fill in replicas, strategy and template."""
        from hyperkube_api.apps.deployments.defaults import default_deployment

        default_deployment(obj)

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
        from hyperkube_api.apps.deployments.validation import validate_deployment

        return validate_deployment(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        from hyperkube_api.apps.deployments.validation import validate_deployment_update

        return validate_deployment_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        from hyperkube_api.apps.deployments.validation import validate_deployment_status

        return validate_deployment_status(obj, old)
