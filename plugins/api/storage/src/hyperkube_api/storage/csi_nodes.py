"""CSINodes: which CSI drivers a node has.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/csinode, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.csi_drivers import csi_driver_name
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, repeated, required
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")


def validate_csi_node(obj: Object) -> list[FieldError]:
    """Check the drivers of a node."""
    path = _SPEC.child("drivers")
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, driver in enumerate((obj.get("spec") or {}).get("drivers") or ()):
        at, name, node = path.index(index), driver.get("name") or "", driver.get("nodeID") or ""
        errors += csi_driver_name(at.child("name"), name)
        if not node:
            errors.append(required(at.child("nodeID")))
        elif len(node) > 256:
            errors.append(invalid(at.child("nodeID"), node, "must be 256 characters or less"))
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            errors.append(invalid(at.child("allocatable", "count"), count, "must be greater than or equal to 0"))
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        errors += _topology_keys(at, driver.get("topologyKeys") or [])
    return errors


def validate_csi_node_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a driver stayed as it was on its node, apart from how much it can attach."""
    errors = validate_csi_node(obj)
    for before in old["spec"].get("drivers") or ():
        for driver in obj["spec"].get("drivers") or ():
            now, was = ({**item, "allocatable": None} for item in (driver, before))
            if now.get("name") == was.get("name") and now != was:
                shown = go_shape("hyperkube_api.storage.v1:CSINodeDriver", now)
                errors.append(invalid(_SPEC.child("drivers"), shown, IMMUTABLE))
    return errors


def _topology_keys(path: Path, keys: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    again = dict(repeated(keys))
    for index, key in enumerate(keys):
        if not key:
            errors.append(required(path, key))
        elif index in again:
            errors.append(duplicate(path, key))
        errors += [invalid(path, key, text) for text in names.qualified_name(key)]
    return errors


def csi_node_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how many drivers the node has."""
    return [cells.name(obj), len(cells.spec_of(obj).get("drivers") or ()), cells.age(obj, now)]


class CSINodeStrategy(Strategy):
    """Which drivers a node has."""

    metadata_checks = ("object",)
    returns_deleted_object = True
    allow_unconditional_update = False

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the drivers."""
        return validate_csi_node(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that each driver stayed as it was."""
        return validate_csi_node_update(obj, old)


def csi_nodes() -> ResourceSpec:
    """Return the specification of the resource ``csinodes``."""
    return V1.resource(
        "csinodes",
        "CSINode",
        namespaced=False,
        storage_prefix="csinodes",
        storage_version_hash="Pe62DkZtjuo=",
        strategy=CSINodeStrategy(),
        columns=(
            NAME,
            column(
                "Drivers",
                type="integer",
                description="Drivers indicates the number of CSI drivers registered on the node",
            ),
            AGE,
        ),
        cells=csi_node_cells,
    )
