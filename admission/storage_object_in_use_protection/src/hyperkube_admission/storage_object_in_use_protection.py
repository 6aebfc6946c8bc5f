"""StorageObjectInUseProtection: a volume or claim that is used is not removed under its users.

A finalizer holds the object back; the protection controllers take it off when it is no longer in use.
Source: kubernetes ``plugin/pkg/admission/storage/storageobjectinuseprotection``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.plugin import Plugin

FINALIZERS = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}
"""(group, resource) → the finalizer that its objects get."""


class StorageObjectInUseProtection(Plugin):
    """Adds the finalizers on create."""

    may_block = False
    handles = frozenset({"persistentvolumes", "persistentvolumeclaims", "volumeattributesclasses"})

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Add the finalizer unless the object has it."""
        finalizer = FINALIZERS.get((request.resource.group, request.resource.resource))
        if finalizer is None or request.operation != "CREATE" or request.subresource:
            return
        metadata = request.written().setdefault("metadata", {})
        finalizers = list(metadata.get("finalizers") or ())
        if finalizer not in finalizers:
            metadata["finalizers"] = [*finalizers, finalizer]
