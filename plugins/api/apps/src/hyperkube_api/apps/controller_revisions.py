"""ControllerRevisions: snapshots of a template, kept for rolling back.

Source: kubernetes pkg/apis/apps/validation/validation.go, pkg/registry/apps/controllerrevision, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.apps.versions import V1
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import not_negative, unchanged

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery.field import ROOT, FieldError, required
from hyperkube.machinery.objects import Object, controller_of


def validate_controller_revision(obj: Object) -> list[FieldError]:
    """Check a new controller revision."""
    data = obj.get("data")
    errors: list[FieldError] = []
    if not isinstance(data, dict):
        text = "data is mandatory" if data is None else "data must be a valid JSON object"
        errors.append(required(ROOT.child("data"), text))
    return errors + not_negative(ROOT.child("revision"), obj.get("revision"))


def validate_controller_revision_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the data of a controller revision stayed."""
    errors = not_negative(ROOT.child("revision"), obj.get("revision"))
    return errors + unchanged(ROOT.child("data"), obj.get("data"), old.get("data"))


def controller_revision_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the controller of the revision and its number."""
    owner = controller_of(obj)
    shown = cells.NONE
    if owner is not None:
        group = (owner.get("apiVersion") or "").rpartition("/")[0].lower()
        kind = (owner.get("kind") or "").lower()
        shown = f"{kind}.{group}/{owner.get('name')}" if group else f"{kind}/{owner.get('name')}"
    return [cells.name(obj), shown, obj.get("revision") or 0, cells.age(obj, now)]


class ControllerRevisionStrategy(Strategy):
    """A snapshot of a template, kept for rolling back."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check data and revision."""
        return validate_controller_revision(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the data stayed."""
        return validate_controller_revision_update(obj, old)


def controller_revisions() -> ResourceSpec:
    """Return the specification of the resource ``controllerrevisions``."""
    return V1.resource(
        "controllerrevisions",
        "ControllerRevision",
        storage_prefix="controllerrevisions",
        storage_version_hash="85nkx63pcBU=",
        strategy=ControllerRevisionStrategy(),
        columns=(
            NAME,
            column("Controller", description="Controller of the object"),
            column("Revision", field="revision"),
            AGE,
        ),
        cells=controller_revision_cells,
    )
