"""What happens when a DaemonSet is created, changed or deleted.

Source: kubernetes pkg/registry/apps/daemonset.
"""

from __future__ import annotations

from hyperkube_api.apps.workloads import WorkloadStrategy
from hyperkube_api.meta.specs import OnFirstUse

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object

_default_daemon_set: OnFirstUse[None] = OnFirstUse("hyperkube_api.apps.daemon_sets.defaults:default_daemon_set")
_validate_daemon_set: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.daemon_sets.validation:validate_daemon_set"
)
_validate_daemon_set_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.daemon_sets.validation:validate_daemon_set_update"
)
_validate_daemon_set_status: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.daemon_sets.validation:validate_daemon_set_status"
)

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


class DaemonSetStrategy(WorkloadStrategy):
    """One pod on every node; the template's generation is kept in an annotation, as upstream does."""

    metadata_checks = ("change",)
    _warns_of_names = False

    def default(self, obj: Object) -> None:
        """Fill in the update strategy and the template, and the generation that every daemon set shows."""
        _default_daemon_set.call(obj)
        if TEMPLATE_GENERATION not in (obj["metadata"].get("annotations") or {}):
            _set_template_generation(obj, 0)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Set the first generation of the template."""
        _set_template_generation(obj, 1)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count the generations of the template."""
        generation = template_generation(old)
        if obj["spec"].get("template") != old["spec"].get("template"):
            generation += 1
        _set_template_generation(obj, generation)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selector, template and update strategy."""
        return _validate_daemon_set.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the selector stayed."""
        return _validate_daemon_set_update.call(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return _validate_daemon_set_status.call(obj, old)


def template_generation(daemon_set: Object) -> int:
    """Return the generation of the template of a daemon set, 0 without the annotation."""
    text = ((daemon_set.get("metadata") or {}).get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
    return parse_int(text) or 0


def _set_template_generation(obj: Object, generation: int) -> None:
    meta = obj["metadata"]
    meta["annotations"] = {**(meta.get("annotations") or {}), TEMPLATE_GENERATION: str(generation)}
