"""VolumeAttributesClasses: how a volume performs.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/volumeattributesclass, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.storage.parameters import validate_parameters
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, forbidden, invalid, required
from hyperkube.machinery.objects import Object


def validate_volume_attributes_class(obj: Object) -> list[FieldError]:
    """Check a volume attributes class."""
    driver = (obj.get("driverName") or "").lower()
    at = ROOT.child("driverName")
    errors = [invalid(at, driver, text) for text in names.qualified_name(driver)] if driver else [required(at)]
    at, parameters = ROOT.child("parameters"), obj.get("parameters") or {}
    if not parameters:
        return [*errors, required(at, "must contain at least one key/value pair")]
    return errors + validate_parameters(at, parameters)


def validate_volume_attributes_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a volume attributes class stayed as it was; Kubernetes looks at the rest twice."""
    whole = validate_volume_attributes_class(obj)
    kept = [
        forbidden(ROOT.child(member), f"updates to {member} are forbidden.")
        for member in ("driverName", "parameters")
        if (obj.get(member) or None) != (old.get(member) or None)
    ]
    return whole + kept + whole


def volume_attributes_class_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the driver."""
    return [cells.name(obj), obj.get("driverName") or "", cells.age(obj, now)]


class VolumeAttributesClassStrategy(Strategy):
    """How a volume performs."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check driver and parameters."""
        return validate_volume_attributes_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that both stayed."""
        return validate_volume_attributes_class_update(obj, old)


def volume_attributes_classes() -> ResourceSpec:
    """Return the specification of the resource ``volumeattributesclasses``."""
    return V1.resource(
        "volumeattributesclasses",
        "VolumeAttributesClass",
        namespaced=False,
        short_names=("vac",),
        storage_prefix="volumeattributesclasses",
        storage_version_hash="tIjydgKBC5w=",
        strategy=VolumeAttributesClassStrategy(),
        columns=(NAME, column("DriverName", field="driverName"), AGE),
        cells=volume_attributes_class_cells,
    )
