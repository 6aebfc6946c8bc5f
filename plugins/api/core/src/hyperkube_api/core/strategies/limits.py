"""Limit ranges and resource quotas.

Source: kubernetes pkg/registry/core/{limitrange,resourcequota}.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.objects import default_limit_range
from hyperkube_api.core.validation.limits import (
    validate_limit_range,
    validate_quota_status,
    validate_resource_quota,
    validate_resource_quota_update,
)
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class LimitRangeStrategy(Strategy):
    """What one pod, container or claim may use."""

    allow_create_on_update = True

    def default(self, obj: Object) -> None:
        """Fill in default requests and limits from the bounds."""
        default_limit_range(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the bounds against one another."""
        return validate_limit_range(obj)


class ResourceQuotaStrategy(StatusStrategy):
    """What a namespace may use in all."""

    returns_deleted_object = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check names, amounts and scopes."""
        return validate_resource_quota(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the scopes stayed."""
        return validate_resource_quota_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what was counted."""
        return validate_quota_status(obj)
