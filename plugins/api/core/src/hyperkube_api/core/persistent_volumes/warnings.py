"""Warnings for persistent volumes.

Source: kubernetes pkg/api/persistentvolume/util.go.
"""

from __future__ import annotations

from hyperkube_api.core.nodes.deprecated_labels import term_warnings
from hyperkube_api.core.persistent_volume_claims.warnings import class_annotation_warnings

from hyperkube.machinery.field import ROOT
from hyperkube.machinery.objects import Object, annotations_of

_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_SOURCES = (
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
_RECYCLE = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."


def persistent_volume_warnings(volume: Object) -> list[str]:
    """Return the warnings for a persistent volume."""
    spec, path = volume.get("spec") or {}, ROOT.child("spec")
    found = class_annotation_warnings(volume)
    if _MOUNT_OPTIONS in annotations_of(volume):
        at = ROOT.child("metadata", "annotations").key(_MOUNT_OPTIONS)
        found.append(f'{at}: deprecated since v1.31; use "mountOptions" attribute instead')
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(f"{path.child('persistentVolumeReclaimPolicy')}: {_RECYCLE}")
    terms = path.child("nodeAffinity", "required", "nodeSelectorTerms")
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        found += term_warnings(terms.index(index), term)
    return found + [f"{path.child(name)}: {text}" for member, name, text in _SOURCES if spec.get(member) is not None]
