"""DefaultStorageClass: a claim that does not choose a storage class gets the default one.

Of several default classes the newest counts, then the first by name.
Source: kubernetes ``plugin/pkg/admission/storage/storageclass/setdefault``, ``pkg/volume/util/storageclass.go``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import STORAGE_CLASSES
from hyperkube.kinds.volumes import is_default_class, leaves_class_open, newest
from hyperkube.machinery.objects import name_of
from hyperkube.plugin import Plugin, PluginContext


class DefaultStorageClass(Plugin):
    """Fills ``spec.storageClassName`` in on create."""

    may_block = False
    handles = frozenset({"persistentvolumeclaims"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(STORAGE_CLASSES)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Name the default class; an empty name is a choice too."""
        if not request.creates("persistentvolumeclaims"):
            return
        claim = request.written()
        default = newest(filter(is_default_class, self._classes.list()))
        if default is not None and leaves_class_open(claim):
            claim.setdefault("spec", {})["storageClassName"] = name_of(default)
