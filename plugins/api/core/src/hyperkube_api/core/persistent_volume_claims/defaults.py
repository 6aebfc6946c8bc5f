"""Defaults of claims, also of those in a StatefulSet's templates.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_PersistentVolumeClaim).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_persistent_volume_claim(claim: Object) -> None:
    """Fill in a claim, also one in a StatefulSet's template."""
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = claim.setdefault("spec", {})
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
