"""Defaults of persistent volumes.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_PersistentVolume).
"""

from __future__ import annotations

from hyperkube_api.core.volumes.defaults import default_sources

from hyperkube.machinery.objects import Object


def default_persistent_volume(volume: Object) -> None:
    """Fill in a persistent volume."""
    spec = volume["spec"]
    status = volume.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    default_sources(spec)
