"""VolumeAttachments: requests to attach a volume to a node.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/volumeattachment, pkg/printers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.core.csi_drivers import csi_driver_name
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import IMMUTABLE, by_rule
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, required, too_long
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
MAX_METADATA_BYTES, MAX_MESSAGE = 256 * 1024, 1024


def validate_volume_attachment(obj: Object) -> list[FieldError]:
    """Check a new attachment: as on update, and the names more closely."""
    errors, spec = _attachment(obj), obj["spec"]
    errors += csi_driver_name(_SPEC.child("attacher"), spec.get("attacher"))
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        errors += by_rule(_SPEC.child("source", "persistentVolumeName"), name, names.dns1123_subdomain)
    return errors


def _attachment(obj: Object) -> list[FieldError]:
    from hyperkube_api.core.persistent_volumes.validation import inline_volume_spec

    spec, status = obj["spec"], obj.get("status") or {}
    errors = [] if spec.get("attacher") else [required(_SPEC.child("attacher"))]
    source, at = spec.get("source") or {}, _SPEC.child("source")
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        errors.append(required(at, text))
    elif inline is not None and name is not None:
        errors.append(forbidden(at, text))
    elif name is not None and not name:
        errors.append(required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
    elif inline is not None:
        errors += inline_volume_spec(at.child("inlineVolumeSpec"), inline)
    errors += by_rule(_SPEC.child("nodeName"), spec.get("nodeName") or "", names.dns1123_subdomain)
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key) + len(value) for key, value in metadata.items()) > MAX_METADATA_BYTES:
        errors.append(too_long(_STATUS.child("attachmentMetadata"), MAX_METADATA_BYTES))
    for member in ("attachError", "detachError"):
        errors += _volume_error(_STATUS.child(member), status.get(member) or {})
    return errors


def _volume_error(path: Path, error: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(error.get("message") or "") > MAX_MESSAGE:
        errors.append(too_long(path.child("message"), MAX_METADATA_BYTES))  # Kubernetes names this limit
    code = error.get("errorCode")
    if code is not None and code < 0:
        errors.append(invalid(path.child("errorCode"), code, names.range_error(0, 2**31 - 1)))
    return errors


def validate_volume_attachment_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that an attachment's specification stayed; Kubernetes looks at the rest twice."""
    errors = _attachment(obj) * 2
    if obj["spec"] != old["spec"]:
        shown = go_shape("hyperkube_api.storage.v1:VolumeAttachmentSpec", obj["spec"])
        errors.append(invalid(_SPEC, shown, IMMUTABLE))
    return errors


def volume_attachment_cells(obj: Object, now: datetime) -> list[Any]:
    """Return which volume is to be attached where, and whether it is."""
    spec, status = cells.spec_of(obj), cells.status_of(obj)
    return [
        cells.name(obj),
        spec.get("attacher") or "",
        (spec.get("source") or {}).get("persistentVolumeName") or "",
        spec.get("nodeName") or "",
        bool(status.get("attached")),
        cells.age(obj, now),
    ]


class VolumeAttachmentStrategy(StatusStrategy):
    """A request to attach a volume to a node."""

    metadata_checks = ("object", "object")
    returns_deleted_object = True
    allow_unconditional_update = False
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check attacher, source and node."""
        return validate_volume_attachment(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification stayed."""
        return validate_volume_attachment_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what the attacher reports."""
        return validate_volume_attachment_update(obj, old)


def volume_attachments() -> ResourceSpec:
    """Return the specification of the resource ``volumeattachments``."""
    return V1.resource(
        "volumeattachments",
        "VolumeAttachment",
        namespaced=False,
        storage_prefix="volumeattachments",
        storage_version_hash="tJx/ezt6UDU=",
        strategy=VolumeAttachmentStrategy(),
        columns=(
            NAME,
            column("Attacher", format="name", field="spec.attacher"),
            column("PV", field="spec.source.persistentVolumeName"),
            column("Node", field="spec.nodeName"),
            column("Attached", type="boolean", field="status.attached"),
            AGE,
        ),
        cells=volume_attachment_cells,
        subresources=(V1.status("VolumeAttachment"),),
    )
