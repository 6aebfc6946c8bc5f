"""Devices and who claims them: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.resource.defaults import default_claim_spec, default_taints
from hyperkube_api.resource.validation import validate_claim, validate_claim_update, validate_template

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class DeviceClassStrategy(Strategy):
    """A kind of device that may be asked for."""

    returns_deleted_object = True
    generation = True


class ResourceClaimStrategy(StatusStrategy):
    """A wish for devices."""

    returns_deleted_object = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        default_claim_spec(obj.get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        return validate_claim(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the wish stayed."""
        return validate_claim_update(obj, old)


class ResourceClaimTemplateStrategy(Strategy):
    """What claims are made from."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in how many devices."""
        default_claim_spec((obj.get("spec") or {}).get("spec") or {})

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the requests."""
        return validate_template(obj)


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
