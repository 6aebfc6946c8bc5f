"""Warnings for the volumes of a pod: sources that are gone, and files that would lie on one another.

Source: kubernetes pkg/api/pod/warnings.go (warningsForOverlappingVirtualPaths and others).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hyperkube_api.core.persistent_volume_claims.warnings import claim_warnings

from hyperkube.machinery.field import Path, quote
from hyperkube.machinery.objects import Object

_BEFORE_CLAIMS = (
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
)
_AFTER_CLAIMS = (
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
"""Sources: the member, its name in the warning, and what is said of it."""
_MOST_TOLD = 100
"""Warnings of one volume: no client is told more."""
_CERTIFICATE_PATHS = (
    ("certificateChainPath", "PodCertificate chain"),
    ("keyPath", "PodCertificate key"),
    ("credentialBundlePath", "PodCertificate credential bundle"),
)


class _File(NamedTuple):
    """A file of a volume and where it comes from."""

    path: str
    source: str = ""

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def volume_warnings(path: Path, volumes: Sequence[Object]) -> list[str]:
    """Return the warnings for a pod's volumes."""
    found: list[str] = []
    for index, volume in enumerate(volumes):
        at = path.index(index)
        found += _gone(at, volume, _BEFORE_CLAIMS)
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            found += claim_warnings(template.get("spec") or {}, at.child("ephemeral", "volumeClaimTemplate", "spec"))
        found += _gone(at, volume, _AFTER_CLAIMS)
    for volume in volumes:
        found += _overlaps(volume)
    return found


def _gone(path: Path, volume: Object, sources: Sequence[tuple[str, str, str]]) -> list[str]:
    return [f"{path.child(name)}: {text}" for member, name, text in sources if volume.get(member) is not None]


def _overlaps(volume: Object) -> list[str]:
    name = quote(volume.get("name") or "")
    found: list[str] = []
    for member, kind, named in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
        source = volume.get(member) or {}
        found += _collisions(f"volume {name} ({kind} {quote(source.get(named) or '')})", _files(source))
    found += _collisions(f"volume {name} (DownwardAPI)", _files(volume.get("downwardAPI") or {}))
    sources = (volume.get("projected") or {}).get("sources") or ()
    found += [f"volume {name} (Projected) has no sources provided" for source in sources if not source]
    files = [file for source in sources for file in _projected(source or {})]
    return found + _collisions(f"volume {name} (Projected)", files)


def _collisions(what: str, files: Sequence[_File]) -> list[str]:
    """Say which files overlap which earlier ones, up to `_MOST_TOLD`.

    Sorted so that all files below a folder come right after it, each is compared with what it may be below of alone.
    """
    found: list[tuple[int, int]] = []
    above: list[tuple[str, int]] = []
    keys = sorted((file.path.replace("/", "\0") + "\0", index) for index, file in enumerate(files) if file.path)
    for key, index in keys:
        while above and not key.startswith(above[-1][0]):
            above.pop()
        found += [(max(index, other), min(index, other)) for _, other in above[: _MOST_TOLD - len(found)]]
        above.append((key, index))
    return [f"{what}: overlapping paths: {files[later]} with {files[earlier]}" for later, earlier in sorted(found)]


def _files(source: Object, name: str = "") -> list[_File]:
    return [_File((item.get("path") or "").rstrip("/"), name) for item in source.get("items") or ()]


def _projected(source: Object) -> list[_File]:
    """Return the files of one source of a projected volume."""
    for member, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        inner = source.get(member)
        if inner is not None and inner.get("items") is not None:
            return _files(inner, f"{kind} {quote(inner.get('name') or '')}")
    if (source.get("downwardAPI") or {}).get("items") is not None:
        return _files(source["downwardAPI"], "DownwardAPI")
    if source.get("serviceAccountToken") is not None:
        return [_file(source["serviceAccountToken"].get("path"), "ServiceAccountToken")]
    bundle = source.get("clusterTrustBundle")
    if bundle is not None:
        name = bundle.get("signerName") if bundle.get("name") is None else bundle["name"]
        return [_file(bundle.get("path"), f"ClusterTrustBundle {quote(name or '')}")]
    certificate = source.get("podCertificate") or {}
    return [_file(certificate[member], kind) for member, kind in _CERTIFICATE_PATHS if certificate.get(member)]


def _file(path: str | None, source: str) -> _File:
    return _File((path or "").rstrip("/"), source)
