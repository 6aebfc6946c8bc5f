"""Warnings for persistent volumes and claims.

Source: kubernetes pkg/api/{persistentvolume,persistentvolumeclaim}/util.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.validation.claims import CLASS_ANNOTATION
from hyperkube_api.core.warnings.containers import fraction
from hyperkube_api.core.warnings.node_labels import term_warnings

from hyperkube.machinery.field import ROOT, Path
from hyperkube.machinery.objects import Object, annotations_of

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
    found = _class_annotation(volume)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        found.append(f"{path.child('persistentVolumeReclaimPolicy')}: {_RECYCLE}")
    terms = path.child("nodeAffinity", "required", "nodeSelectorTerms")
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        found += term_warnings(terms.index(index), term)
    return found + [f"{path.child(name)}: {text}" for member, name, text in _SOURCES if spec.get(member) is not None]


def _class_annotation(obj: Object) -> list[str]:
    if CLASS_ANNOTATION not in annotations_of(obj):
        return []
    at = ROOT.child("metadata", "annotations").key(CLASS_ANNOTATION)
    return [f'{at}: deprecated since v1.8; use "storageClassName" attribute instead']


def claim_object_warnings(claim: Object) -> list[str]:
    """Return the warnings for a claim."""
    return _class_annotation(claim) + claim_warnings(claim.get("spec") or {}, "spec")


def claim_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings for what a claim asks for."""
    resources, at = spec.get("resources") or {}, Path(path).child("resources")
    return [
        text
        for member in ("requests", "limits")
        for text in fraction(at.child(member).key("storage"), (resources.get(member) or {}).get("storage"))
    ]


def claim_template_warnings(templates: Sequence[Object], *, is_new: bool) -> list[str]:
    """Return the warnings for the claims that a stateful set makes, which an update calls by another path."""
    path = ROOT.child("spec", "volumeClaimTemplates")
    return [
        text
        for index, template in enumerate(templates)
        for text in claim_warnings(
            template.get("spec") or {}, path.index(index) if is_new else path.index(index).child("Spec")
        )
    ]
