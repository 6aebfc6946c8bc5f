"""How a pod template is created and updated.

Source: kubernetes pkg/registry/core/podtemplate/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.defaults import default_template
from hyperkube_api.core.pod_specs.warnings import template_warnings

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class PodTemplateStrategy(Strategy):
    """A pod template on its own, for controllers that make pods from it."""

    metadata_checks = ("change",)
    generation = True
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the template."""
        default_template(obj.get("template"))

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the template."""
        from hyperkube_api.core.pod_templates.validation import validate_pod_template_object

        return validate_pod_template_object(obj, privileged=call.services.allow_privileged)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but unwise in the template."""
        return template_warnings(obj.get("template"), "template", (old or {}).get("template"))
