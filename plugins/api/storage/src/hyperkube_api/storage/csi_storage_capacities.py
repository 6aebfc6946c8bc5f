"""CSIStorageCapacities: how much a CSI driver can still make somewhere.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/csistoragecapacity, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.nodes.deprecated_labels import label_selector_warnings
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.validation import NOT_NEGATIVE, by_rule, label_selector, unchanged
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, invalid
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse


def validate_csi_storage_capacity(obj: Object) -> list[FieldError]:
    """Check a report of free capacity."""
    errors = label_selector(ROOT.child("nodeTopology"), obj.get("nodeTopology"))
    name = obj.get("storageClassName") or ""
    errors += by_rule(ROOT.child("storageClassName"), name, names.dns1123_subdomain)
    if obj.get("capacity") is not None and parse(obj["capacity"]).sign < 0:
        errors.append(invalid(ROOT.child("capacity"), str(parse(obj["capacity"])), NOT_NEGATIVE))
    return errors


def validate_csi_storage_capacity_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a report of free capacity."""
    errors = validate_csi_storage_capacity(obj)
    for member in ("nodeTopology", "storageClassName"):
        errors += unchanged(ROOT.child(member), obj.get(member), old.get(member))
    return errors


def csi_storage_capacity_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the time of creation."""
    del now
    return [cells.name(obj), cells.created(obj)]


class CSIStorageCapacityStrategy(Strategy):
    """How much a driver can still make somewhere."""

    allow_unconditional_update = False

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check class and amounts."""
        return validate_csi_storage_capacity(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that place and class stayed."""
        return validate_csi_storage_capacity_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of deprecated labels in the topology."""
        return label_selector_warnings(ROOT.child("nodeTopology"), obj.get("nodeTopology"))


def csi_storage_capacities() -> ResourceSpec:
    """Return the specification of the resource ``csistoragecapacities``."""
    return V1.resource(
        "csistoragecapacities",
        "CSIStorageCapacity",
        storage_prefix="csistoragecapacities",
        storage_version_hash="xeVl+2Ly1kE=",
        strategy=CSIStorageCapacityStrategy(),
        columns=(NAME, column("Created At", type="date")),
        cells=csi_storage_capacity_cells,
    )
