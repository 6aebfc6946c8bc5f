"""DeviceClasses: kinds of devices that may be asked for.

Source: kubernetes pkg/apis/resource, pkg/registry/resource/deviceclass, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME
from hyperkube_api.resource.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery.field import FieldError, invalid
from hyperkube.machinery.objects import Object


def validate_class(obj: Object) -> list[FieldError]:
    """Check a class of devices; the rules, which it shares with claims, are imported by the first check."""
    from hyperkube_api.core.amounts import is_extended
    from hyperkube_api.resource.named_devices import check_list
    from hyperkube_api.resource.resource_claims.validation import MAX_ITEMS, SPEC, check_selector, configuration

    spec = obj.get("spec") or {}
    errors = check_list(SPEC.child("selectors"), spec.get("selectors"), MAX_ITEMS, check_selector)
    errors += check_list(SPEC.child("config"), spec.get("config"), MAX_ITEMS, configuration)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        at = SPEC.child("extendedResourceName")
        errors.append(invalid(at, name, "must be a valid extended resource name"))
    return errors


def device_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name and age."""
    return [cells.name(obj), cells.age(obj, now)]


class DeviceClassStrategy(Strategy):
    """A kind of device that may be asked for."""

    returns_deleted_object = True
    generation = True

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a name by the rule that is declared for it, which counts bytes."""
        return [text.replace("253 characters", "253 bytes") for text in super().validate_name(name, prefix=prefix)]

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selectors and configurations."""
        return validate_class(obj)


def device_classes() -> ResourceSpec:
    """Return the specification of the resource ``deviceclasses``."""
    return V1.resource(
        "deviceclasses",
        "DeviceClass",
        namespaced=False,
        storage_prefix="deviceclasses",
        storage_version_hash="Yk2PTc1Ybxk=",
        strategy=DeviceClassStrategy(),
        columns=(NAME, AGE),
        cells=device_class_cells,
    )
