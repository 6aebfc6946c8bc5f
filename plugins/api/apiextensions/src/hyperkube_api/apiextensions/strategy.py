"""Custom resource definitions: what happens when one is created, changed or deleted.

Source: kubernetes apiextensions-apiserver pkg/registry/customresourcedefinition/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


class CustomResourceDefinitionStrategy(StatusStrategy):
    """A kind that users define."""

    generation = True
    allow_unconditional_update = False
    plain_finalizers = True
    metadata_checks = ("change",)
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def default(self, obj: Object) -> None:
        """Fill in names and conversion."""
        from hyperkube_api.apiextensions.defaults import default_definition

        default_definition(obj)

    def validate_object_name(self, obj: Object, name: str, *, prefix: bool) -> list[str]:
        """Return why the name is not that of the resource and its group."""
        spec = obj.get("spec") or {}
        wanted = f"{(spec.get('names') or {}).get('plural') or ''}.{spec.get('group') or ''}"
        wrong = super().validate_name(name, prefix=prefix)
        return wrong if name == wanted else [*wrong, 'must be spec.names.plural+"."+spec.group']

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check names, versions and schemas."""
        from hyperkube_api.apiextensions.validation import validate_definition

        return validate_definition(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that what names objects stayed."""
        from hyperkube_api.apiextensions.validation import validate_definition_update

        return validate_definition_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the names that are accepted."""
        from hyperkube_api.apiextensions.validation import validate_definition_status

        return validate_definition_status(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Name the formats that are not checked, those that were there before apart."""
        from hyperkube_api.apiextensions.validation import unknown_formats

        if call.subresource:
            return []
        before = set(unknown_formats(old)) if old is not None else set()
        return [f'unrecognized format "{form}"' for form in unknown_formats(obj) if form not in before]

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start without accepted names, and with the storage version among the stored ones."""
        versions = obj["spec"].get("versions") or []
        stored = next((version["name"] for version in versions if version.get("storage")), None)
        obj["status"] = {"storedVersions": [stored] if stored is not None else None}

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Add the storage version to the stored ones: from now on objects are written in it."""
        status = obj.setdefault("status", {})
        stored = status.get("storedVersions") or []
        new = [version["name"] for version in obj["spec"].get("versions") or [] if version.get("storage")]
        status["storedVersions"] = [*stored, *(name for name in new if name not in stored)]

    def blocks_deletion(self, obj: Object) -> bool:
        """Wait until the objects of the definition are gone: the finalizer added below is taken away then."""
        return not obj["metadata"].get("deletionTimestamp")

    def prepare_delete(self, call: Call, obj: Object) -> None:
        """Have the objects of the definition deleted first."""
        meta = obj["metadata"]
        meta.pop("deletionGracePeriodSeconds", None)
        finalizers = meta.get("finalizers") or []
        if CLEANUP_FINALIZER not in finalizers:
            meta["finalizers"] = [*finalizers, CLEANUP_FINALIZER]
        condition = {
            "type": "Terminating",
            "status": "True",
            "lastTransitionTime": format_time(call.clock.now()),
            "reason": "InstanceDeletionPending",
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        }
        status = obj.setdefault("status", {})
        others = [one for one in status.get("conditions") or [] if one.get("type") != "Terminating"]
        status["conditions"] = [*others, condition]
