"""How a resource quota is created and updated.

Source: kubernetes pkg/registry/core/resourcequota/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class ResourceQuotaStrategy(StatusStrategy):
    """What a namespace may use in all."""

    metadata_checks = ("change",)
    returns_deleted_object = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check names, amounts and scopes."""
        from hyperkube_api.core.resource_quotas.validation import validate_resource_quota

        return validate_resource_quota(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the scopes stayed."""
        from hyperkube_api.core.resource_quotas.validation import validate_resource_quota_update

        return validate_resource_quota_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what was counted."""
        from hyperkube_api.core.resource_quotas.validation import validate_quota_status

        return validate_quota_status(obj)
