"""Storage version migrations: which resource is to be written anew, and how far that has come.

Source: kubernetes pkg/registry/storagemigration/storagemigration/strategy.go, pkg/apis/storagemigration/validation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import Version
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import condition_list, unchanged

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.kinds.conditions import is_true
from hyperkube.machinery.field import ROOT, FieldError, invalid, required
from hyperkube.machinery.objects import Object

V1BETA1 = Version("storagemigration.k8s.io", "v1beta1", "hyperkube_api.storagemigration.v1beta1")
RESOURCE = ROOT.child("spec", "resource")
STATUS = ROOT.child("status")


class StorageVersionMigrationStrategy(StatusStrategy):
    """A migration whose resource never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check that a resource is named."""
        resource = (obj.get("spec") or {}).get("resource") or {}
        return [] if resource.get("resource") else [required(RESOURCE.child("resource"), "resource is required")]

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the resource stayed."""
        now, before = ((each.get("spec") or {}).get("resource") for each in (obj, old))
        return unchanged(RESOURCE, now, before)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions, of which Succeeded and Failed exclude one another, and the resource version."""
        now, before = obj.get("status") or {}, old.get("status") or {}
        errors = condition_list(STATUS.child("conditions"), now.get("conditions"))
        if is_true(now, "Succeeded") and is_true(now, "Failed"):
            text = "Both success and failed conditions cannot be true at the same time"
            errors.append(invalid(STATUS.child("conditions"), now["conditions"], text))
        version = now.get("resourceVersion") or ""
        if version and not version.isdigit():
            errors.append(invalid(STATUS.child("resourceVersion"), version, "must be a number"))
        elif before.get("resourceVersion"):
            errors += unchanged(STATUS.child("resourceVersion"), version, before["resourceVersion"])
        return errors


def storage_version_migration_cells(obj: Object, _now: datetime) -> list[Any]:
    """Return the resource, and what holds of the migration."""
    resource = cells.spec_of(obj).get("resource") or {}
    shown = ".".join(part for part in (resource.get("resource"), resource.get("group")) if part)
    conditions = (obj.get("status") or {}).get("conditions") or ()
    holds = [str(entry["type"]) for entry in conditions if entry.get("status") == "True"]
    return [cells.name(obj), shown, cells.joined(holds, "")]


def storage_version_migrations() -> ResourceSpec:
    """Return the specification of the resource ``storageversionmigrations``."""
    return V1BETA1.resource(
        "storageversionmigrations",
        "StorageVersionMigration",
        namespaced=False,
        served=False,
        storage_prefix="storageversionmigrations",
        storage_version_hash="pCjmmKOkLy4=",
        strategy=StorageVersionMigrationStrategy(),
        columns=(NAME, column("Resource"), column("Status")),
        cells=storage_version_migration_cells,
        subresources=(V1BETA1.status("StorageVersionMigration"),),
    )
