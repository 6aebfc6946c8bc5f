"""DefaultStorageClass: a claim that does not choose a storage class gets the default one.

Of several default classes the newest counts, then the first by name.
Source: kubernetes ``plugin/pkg/admission/storage/storageclass/setdefault``, ``pkg/volume/util/storageclass.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import STORAGE_CLASSES
from hyperkube.machinery.objects import Object, annotations_of, metadata, name_of
from hyperkube.plugin import Plugin, PluginContext

_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def is_default(storage_class: Object) -> bool:
    """Tell whether a class is marked as default."""
    return any(annotations_of(storage_class).get(name) == "true" for name in _DEFAULT)


class DefaultStorageClass(Plugin):
    """Fills ``spec.storageClassName`` in on create."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(STORAGE_CLASSES)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Name the default class; an empty name is a choice too."""
        if not request.creates("persistentvolumeclaims"):
            return
        claim = request.written()
        spec = claim.setdefault("spec", {})
        if spec.get("storageClassName") is not None or _BETA_CLASS in annotations_of(claim):
            return
        classes = sorted((known for known in self._classes.list() if is_default(known)), key=name_of)
        if classes:
            newest = max(classes, key=lambda known: str(metadata(known).get("creationTimestamp", "")))
            spec["storageClassName"] = name_of(newest)
