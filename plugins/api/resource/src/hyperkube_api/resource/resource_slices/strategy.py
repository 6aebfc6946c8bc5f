"""What happens when a ResourceSlice is created, changed or deleted.

A server needs the rules of devices with the first slice, not to start: they are imported by the first check.

Source: kubernetes pkg/registry/resource/resourceslice.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class ResourceSliceStrategy(Strategy):
    """The devices that a driver offers on a node."""

    metadata_checks = ("change",)
    returns_deleted_object = True
    generation = True

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Fill in since when devices are tainted."""
        from hyperkube_api.resource.resource_slices.defaults import default_taints

        default_taints(obj.get("spec") or {}, call.clock.now())

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Fill in since when devices are tainted."""
        from hyperkube_api.resource.resource_slices.defaults import default_taints

        del old
        default_taints(obj.get("spec") or {}, call.clock.now())

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the pool and its devices."""
        from hyperkube_api.resource.resource_slices.validation import validate_slice

        return validate_slice(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the slice stayed with its driver, pool and node."""
        from hyperkube_api.resource.resource_slices.validation import validate_slice

        return validate_slice(obj, old)
