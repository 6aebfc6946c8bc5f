"""Devices and who claims them: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.resource.defaults import default_claim_spec, default_taints
from hyperkube_api.resource.validation.admin_access import granted_admin_access, wished_admin_access
from hyperkube_api.resource.validation.claim_status import validate_claim_status
from hyperkube_api.resource.validation.claims import (
    validate_claim,
    validate_claim_update,
    validate_class,
    validate_template,
    validate_template_update,
)
from hyperkube_api.resource.validation.slices import validate_slice

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class DeviceClassStrategy(Strategy):
    """A kind of device that may be asked for."""

    returns_deleted_object = True
    generation = True

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selectors and configurations."""
        return validate_class(obj)


class ResourceClaimStrategy(StatusStrategy):
    """A wish for devices."""

    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        default_claim_spec(obj.get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        return wished_admin_access(call, obj.get("spec") or {}) + validate_claim(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the wish stayed."""
        return validate_claim_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what the claim gets, and what is said of that."""
        return granted_admin_access(call, obj, old) + validate_claim_status(obj, old)


class ResourceClaimTemplateStrategy(Strategy):
    """What claims are made from."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        default_claim_spec((obj.get("spec") or {}).get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        wish = (obj.get("spec") or {}).get("spec") or {}
        return wished_admin_access(call, wish) + validate_template(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the wish stayed."""
        return validate_template_update(obj, old)


class ResourceSliceStrategy(Strategy):
    """The devices that a driver has on a node."""

    returns_deleted_object = True
    generation = True

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Note since when devices are tainted."""
        default_taints(obj.get("spec") or {}, call.clock.now())

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Note since when devices are tainted."""
        del old
        default_taints(obj.get("spec") or {}, call.clock.now())

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the pool and its devices."""
        return validate_slice(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the slice stayed with its driver, pool and node."""
        return validate_slice(obj, old)
