"""ResourceClaimTemplates: what the claims of pods are made from.

The rules, which templates share with claims, are imported by the first check.

Source: kubernetes pkg/apis/resource, pkg/registry/resource/resourceclaimtemplate, pkg/printers.
"""

from __future__ import annotations

from hyperkube_api.meta.columns import AGE, NAME
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE
from hyperkube_api.resource.device_classes import device_class_cells
from hyperkube_api.resource.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery.field import FieldError, invalid
from hyperkube.machinery.objects import Object


def validate_template(obj: Object) -> list[FieldError]:
    """Check the template of a claim."""
    from hyperkube_api.resource.resource_claims.validation import SPEC, validate_claim_spec

    return validate_claim_spec(SPEC.child("spec"), (obj.get("spec") or {}).get("spec") or {})


def validate_template_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the template of a claim stayed."""
    from hyperkube_api.resource.resource_claims.validation import CLAIM_SPEC, SPEC

    spec = obj.get("spec") or {}
    if spec == (old.get("spec") or {}):
        return []
    shown = {**(spec.get("metadata") or {}), "Spec": go_shape(CLAIM_SPEC, spec.get("spec") or {})}
    return [invalid(SPEC, shown, IMMUTABLE)]


resource_claim_template_cells = device_class_cells


class ResourceClaimTemplateStrategy(Strategy):
    """What claims are made from."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        from hyperkube_api.resource.resource_claims.defaults import default_claim_spec

        default_claim_spec((obj.get("spec") or {}).get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        from hyperkube_api.resource.resource_claims.admin_access import check_requested_admin_access

        claim_spec = (obj.get("spec") or {}).get("spec") or {}
        return check_requested_admin_access(call, claim_spec) + validate_template(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification of the claims stayed."""
        return validate_template_update(obj, old)


def resource_claim_templates() -> ResourceSpec:
    """Return the specification of the resource ``resourceclaimtemplates``."""
    return V1.resource(
        "resourceclaimtemplates",
        "ResourceClaimTemplate",
        storage_prefix="resourceclaimtemplates",
        storage_version_hash="TuzjC49aUfM=",
        strategy=ResourceClaimTemplateStrategy(),
        columns=(NAME, AGE),
        cells=resource_claim_template_cells,
    )
