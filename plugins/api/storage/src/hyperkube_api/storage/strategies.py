"""Storage classes, drivers and attachments: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.core.nodes.deprecated_labels import DEPRECATED_LABELS, label_selector_warnings
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.storage import validation
from hyperkube_api.storage.defaults import default_csi_driver, default_storage_class

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError
from hyperkube.machinery.objects import Object

_TERMS = ROOT.child("allowedTopologies")


class CSIDriverStrategy(Strategy):
    """What a CSI driver can do and needs; its generation begins with the first change."""

    allow_unconditional_update = False
    returns_deleted_object = True

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count changes of the specification."""
        generation = old["metadata"].get("generation") or 0
        if obj["spec"] != old["spec"]:
            generation += 1
        if generation:
            obj["metadata"]["generation"] = generation

    def default(self, obj: Object) -> None:
        """Fill in what the driver needs."""
        default_csi_driver(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check name and settings."""
        return validation.validate_csi_driver(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and what may not change."""
        return validation.validate_csi_driver_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when tokens may end up in logs."""
        spec = obj["spec"]
        if old is None and spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
            text = (
                "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent "
                "possible logging of tokens in volume attributes"
            )
            return [text]
        return []


class CSINodeStrategy(Strategy):
    """Which drivers a node has."""

    returns_deleted_object = True
    allow_unconditional_update = False

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the drivers."""
        return validation.validate_csi_node(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that each driver stayed as it was."""
        return validation.validate_csi_node_update(obj, old)


class CSIStorageCapacityStrategy(Strategy):
    """How much a driver can still make somewhere."""

    allow_unconditional_update = False

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check class and amounts."""
        return validation.validate_capacity(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that place and class stayed."""
        return validation.validate_capacity_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when topology uses labels that will go."""
        return label_selector_warnings(ROOT.child("nodeTopology"), obj.get("nodeTopology"))


class StorageClassStrategy(Strategy):
    """Where volumes come from."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in policy and mode."""
        default_storage_class(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check provisioner, parameters and topology."""
        return validation.validate_storage_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that what volumes depend on stayed."""
        return validation.validate_storage_class_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say when topology uses labels that will go."""
        return [
            f"{_TERMS.index(index).child('matchLabelExpressions').index(number).child('key')}: "
            f"{DEPRECATED_LABELS[item['key']]}"
            for index, term in enumerate(obj.get("allowedTopologies") or ())
            for number, item in enumerate(term.get("matchLabelExpressions") or ())
            if item.get("key") in DEPRECATED_LABELS
        ]


class VolumeAttachmentStrategy(StatusStrategy):
    """That a volume is to be attached to a node."""

    returns_deleted_object = True
    allow_unconditional_update = False
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check attacher, source and node."""
        return validation.validate_attachment(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification stayed."""
        return validation.validate_attachment_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check what the attacher reports."""
        return validation.validate_attachment_update(obj, old)


class VolumeAttributesClassStrategy(Strategy):
    """How a volume performs."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check driver and parameters."""
        return validation.validate_attributes_class(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that both stayed."""
        return validation.validate_attributes_class_update(obj, old)
