"""Defaults of volumes, in pods and in persistent volumes.

Source: kubernetes pkg/apis/core/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.kinds.images import pull_policy
from hyperkube.machinery.objects import Object

DEFAULT_MODE = 0o644
_WITH_MODE = ("secret", "configMap", "downwardAPI", "projected")
_SOURCES: dict[str, dict[str, object]] = {
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
}


def default_volumes(volumes: Sequence[Object]) -> None:
    """Fill in the volumes of a pod."""
    for volume in volumes:
        default_volume(volume)


def default_volume(volume: Object) -> None:
    """Fill in one volume of a pod; one without any source is an empty directory."""
    if len(volume) <= 1 and all(key == "name" for key in volume):
        volume["emptyDir"] = {}
        return
    default_sources(volume)
    for member in _WITH_MODE:
        source = volume.get(member)
        if source is not None:
            if source.get("defaultMode") is None:
                source["defaultMode"] = DEFAULT_MODE
            _default_items(source)
    for source in (volume.get("projected") or {}).get("sources") or ():
        _default_projection(source)
    image = volume.get("image")
    if image is not None and not image.get("pullPolicy"):
        image["pullPolicy"] = pull_policy(image.get("reference") or "")
    template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
    if template and (template.get("spec") or {}).get("volumeMode") is None:
        template.setdefault("spec", {})["volumeMode"] = "Filesystem"


def default_sources(holder: Object) -> None:
    """Fill in the sources that pods and persistent volumes have in common."""
    for member, values in _SOURCES.items():
        source = holder.get(member)
        if source is not None:
            for key, value in values.items():
                if source.get(key) in {None, ""}:
                    source[key] = value
    host_path = holder.get("hostPath")
    if host_path is not None and host_path.get("type") is None:
        host_path["type"] = ""


def _default_items(source: Object) -> None:
    for item in source.get("items") or ():
        reference = item.get("fieldRef")
        if reference is not None and not reference.get("apiVersion"):
            reference["apiVersion"] = "v1"


def _default_projection(source: Object) -> None:
    if source.get("downwardAPI") is not None:
        _default_items(source["downwardAPI"])
    token = source.get("serviceAccountToken")
    if token is not None and token.get("expirationSeconds") is None:
        token["expirationSeconds"] = 3600
    certificate = source.get("podCertificate")
    if certificate is not None and certificate.get("maxExpirationSeconds") is None:
        certificate["maxExpirationSeconds"] = 86400
