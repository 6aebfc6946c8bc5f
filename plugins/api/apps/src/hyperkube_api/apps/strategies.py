"""Workloads: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/apps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.apps import validation
from hyperkube_api.apps.defaults import (
    default_daemon_set,
    default_deployment,
    default_replica_set,
    default_stateful_set,
)
from hyperkube_api.core.warnings import claim_template_warnings, template_warnings, workload_name_warnings
from hyperkube_api.meta.strategies import StatusStrategy, changed_generation

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


class ControllerRevisionStrategy(Strategy):
    """A snapshot of a template, kept for rolling back."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check data and revision."""
        return validation.validate_controller_revision(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the data stayed."""
        return validation.validate_controller_revision_update(obj, old)


_KEEPS_ALL = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"


class _WorkloadStrategy(StatusStrategy):
    """What keeps pods running from a template."""

    generation = True
    _warns_of_names = True

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the name and the template."""
        if not changed_generation(obj, old):
            return []
        named = workload_name_warnings(obj) if old is None and self._warns_of_names else []
        return named + template_warnings(obj["spec"].get("template"), "spec.template", None)


class DaemonSetStrategy(_WorkloadStrategy):
    """One pod on every node; the template's generation is kept in an annotation, as of old."""

    _warns_of_names = False

    def default(self, obj: Object) -> None:
        """Fill in the update strategy and the template."""
        default_daemon_set(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Nothing runs yet; this is the template's first generation."""
        _set_template_generation(obj, 1)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count the generations of the template."""
        generation = template_generation(old)
        if obj["spec"].get("template") != old["spec"].get("template"):
            generation += 1
        _set_template_generation(obj, generation)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selector, template and update strategy."""
        return validation.validate_daemon_set(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return validation.validate_daemon_set_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validation.validate_daemon_set_status(obj, old)


def template_generation(daemon_set: Object) -> int:
    """Return how often the template of a daemon set changed; 0 if that was never noted."""
    text = ((daemon_set.get("metadata") or {}).get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
    return int(text) if text.isdecimal() else 0


def _set_template_generation(obj: Object, generation: int) -> None:
    meta = obj["metadata"]
    meta["annotations"] = {**(meta.get("annotations") or {}), TEMPLATE_GENERATION: str(generation)}


class DeploymentStrategy(_WorkloadStrategy):
    """Replica sets that roll from one template to the next."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec", "metadata.labels")}

    def default(self, obj: Object) -> None:
        """Fill in replicas, strategy and template."""
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
        return validation.validate_deployment(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return validation.validate_deployment_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validation.validate_deployment_status(obj, old)


class ReplicaSetStrategy(_WorkloadStrategy):
    """So many pods of one template."""

    def default(self, obj: Object) -> None:
        """Fill in replicas and template."""
        default_replica_set(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check replicas, selector and template."""
        return validation.validate_replica_set(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return validation.validate_replica_set_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validation.validate_replica_set_status(obj)


class StatefulSetStrategy(_WorkloadStrategy):
    """Pods with names and volumes of their own."""

    def default(self, obj: Object) -> None:
        """Fill in policies, template and claims."""
        default_stateful_set(obj)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a DNS label: pods and host names are made from it."""
        return dns1123_label(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is unwise in the template, the claims and the number of revisions to keep."""
        spec = obj["spec"]
        found = template_warnings(spec.get("template"), "spec.template", None) if changed_generation(obj, old) else []
        found += claim_template_warnings(spec.get("volumeClaimTemplates") or [], is_new=old is None)
        if (spec.get("revisionHistoryLimit") or 0) < 0:
            found.append(_KEEPS_ALL)
        return found

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policies, selector, template and claims."""
        return validation.validate_stateful_set(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only what may change did."""
        return validation.validate_stateful_set_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return validation.validate_stateful_set_status(obj, old)
