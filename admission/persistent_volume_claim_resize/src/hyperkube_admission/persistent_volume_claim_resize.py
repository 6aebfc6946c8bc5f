"""PersistentVolumeClaimResize: a claim grows only if its storage class allows it.

Source: kubernetes ``plugin/pkg/admission/storage/persistentvolume/resize``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resource_lists import read
from hyperkube.kinds.resources import STORAGE_CLASSES
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.errors import Forbidden, NotFound
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity
from hyperkube.plugin import Plugin, PluginContext

_NOT_ALLOWED = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


def _size(claim: Object) -> Quantity:
    spec = claim.get("spec") or {}
    return read((spec.get("resources") or {}).get("requests")).get("storage", Quantity(0))


class PersistentVolumeClaimResize(Plugin):
    """Refuses to enlarge claims that are not bound or whose class does not expand volumes."""

    may_block = False
    handles = frozenset({"persistentvolumeclaims"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._classes = self.informers.informer(STORAGE_CLASSES)

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Check claims that ask for more than before."""
        if not request.updates("persistentvolumeclaims") or request.old_object is None:
            return
        old = request.old_object
        if _size(request.written()) <= _size(old):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise Forbidden("Only bound persistent volume claims can be expanded")
        if not self._may_expand(request.written()):
            raise Forbidden(_NOT_ALLOWED)

    def _may_expand(self, claim: Object) -> bool:
        name = class_name(claim)
        if not name:
            return False
        found = self._classes.get("", name)
        if found is None or not found.get("allowVolumeExpansion"):  # the cache may be behind a change of the class
            try:
                found = self.client.get(STORAGE_CLASSES, name)
            except NotFound:
                return False
        return bool(found.get("allowVolumeExpansion"))
