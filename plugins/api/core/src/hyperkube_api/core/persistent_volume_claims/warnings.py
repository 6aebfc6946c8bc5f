"""Warnings for claims to persistent volumes, be they objects or templates.

Source: kubernetes pkg/api/persistentvolumeclaim/util.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.machinery.field import ROOT, Path
from hyperkube.machinery.objects import Object, annotations_of


def class_annotation_warnings(obj: Object) -> list[str]:
    """Return the warning for a volume or a claim that names its storage class in an annotation."""
    from hyperkube_api.core.persistent_volume_claims.validation import CLASS_ANNOTATION

    if CLASS_ANNOTATION not in annotations_of(obj):
        return []
    at = ROOT.child("metadata", "annotations").key(CLASS_ANNOTATION)
    return [f'{at}: deprecated since v1.8; use "storageClassName" attribute instead']


def claim_object_warnings(claim: Object) -> list[str]:
    """Return the warnings for a claim."""
    return class_annotation_warnings(claim) + claim_warnings(claim.get("spec") or {}, "spec")


def claim_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings for what a claim asks for."""
    from hyperkube_api.core.amount_warnings import fraction_warnings

    resources, at = spec.get("resources") or {}, Path(path).child("resources")
    return [
        text
        for member in ("requests", "limits")
        for text in fraction_warnings(at.child(member).key("storage"), (resources.get(member) or {}).get("storage"))
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
