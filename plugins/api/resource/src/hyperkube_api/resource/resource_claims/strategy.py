"""What happens when a ResourceClaim is created, changed or deleted.

A server needs the rules of devices with the first claim, not to start: they are imported by the first check.

Source: kubernetes pkg/registry/resource/resourceclaim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class ResourceClaimStrategy(StatusStrategy):
    """A request for devices."""

    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        from hyperkube_api.resource.resource_claims.defaults import default_claim_spec

        default_claim_spec(obj.get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        from hyperkube_api.resource.resource_claims.admin_access import check_requested_admin_access
        from hyperkube_api.resource.resource_claims.validation import validate_claim

        return check_requested_admin_access(call, obj.get("spec") or {}) + validate_claim(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification stayed."""
        from hyperkube_api.resource.resource_claims.validation import validate_claim_update

        return validate_claim_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what is allocated to the claim, and what drivers report of it."""
        from hyperkube_api.resource.resource_claims.admin_access import check_allocated_admin_access
        from hyperkube_api.resource.resource_claims.status_validation import validate_claim_status

        return check_allocated_admin_access(call, obj, old) + validate_claim_status(obj, old)
