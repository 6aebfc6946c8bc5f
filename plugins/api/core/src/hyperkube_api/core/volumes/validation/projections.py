"""Volumes made of files: secrets, config maps, the pod's own fields, tokens and certificates, alone or together.

Source: kubernetes pkg/apis/core/validation (validateProjectionSources, validateSecretVolumeSource and around).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hyperkube_api.core.downward_api import field_reference, resource_reference
from hyperkube_api.core.paths import file_mode, file_path, key_to_path, local_path
from hyperkube_api.core.volumes.validation.signers import (
    is_kubernetes_signer,
    signer_name,
    trust_bundle_name,
    user_annotations,
)
from hyperkube_api.meta.validation import label_selector

from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

DOWNWARD_FIELDS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid",
)  # fmt: skip
KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
TOKEN_SECONDS = (600, 2**32)
CERTIFICATE_SECONDS = (3600, 7862400)
KUBERNETES_CERTIFICATE_SECONDS = 86400
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_CLASH = "conflicting duplicate paths"


def secret(path: Path, source: Object) -> list[FieldError]:
    """Check a secret as a volume."""
    return _files(path, source, "secretName")


def config_map(path: Path, source: Object) -> list[FieldError]:
    """Check a config map as a volume."""
    return _files(path, source, "name")


def _files(path: Path, source: Object, name: str) -> list[FieldError]:
    errors = [] if source.get(name) else [required(path.child(name))]
    errors += file_mode(path.child("defaultMode"), source.get("defaultMode"))
    for index, item in enumerate(source.get("items") or ()):
        errors += key_to_path(path.child("items").index(index), item)
    return errors


def downward(path: Path, source: Object) -> list[FieldError]:
    """Check files about the pod; Kubernetes reports them without their index."""
    errors = file_mode(path.child("defaultMode"), source.get("defaultMode"))
    return errors + [error for item in source.get("items") or () for error in _downward_file(path, item)]


def _downward_file(path: Path, item: Object) -> list[FieldError]:
    errors = file_path(path.child("path"), item.get("path"))
    reference, amounts = item.get("fieldRef"), item.get("resourceFieldRef")
    if reference is not None:
        errors += field_reference(path.child("fieldRef"), reference, DOWNWARD_FIELDS)
        if amounts is not None:
            text = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", text))
    elif amounts is not None:
        errors += resource_reference(path.child("resourceFieldRef"), amounts, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + file_mode(path.child("mode"), item.get("mode"))


class _ClaimedPaths:
    """The paths that a projected volume's files have so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: set[str] = set()

    def claim(self, value: str, shown: str) -> list[FieldError]:
        """Claim a path and return an error if it was claimed before."""
        if value not in self._seen:
            self._seen.add(value)
            return []
        return [invalid(self._path, shown, _CLASH)]


def projected(path: Path, source: Object) -> list[FieldError]:
    """Check a volume of several sources, whose files may not meet."""
    errors = file_mode(path.child("defaultMode"), source.get("defaultMode"))
    claimed = _ClaimedPaths(path)
    for index, part in enumerate(source.get("sources") or ()):
        at = path.child("sources").index(index)
        found = _found(part)
        for member in found:
            errors += _PROJECTIONS[member](at.child(member), part[member], claimed, path)
        if len(found) > 1:
            errors.append(forbidden(at, "may not specify more than 1 volume type per source"))
    return errors


def _found(part: Object) -> list[str]:
    found = [member for member, value in part.items() if value is not None and member in _PROJECTIONS]
    return found if len(found) < 2 else [member for member in _PROJECTIONS if member in found]


def _keys(path: Path, source: Object, claimed: _ClaimedPaths, _volume: Path) -> list[FieldError]:
    name = source.get("name") or ""
    errors = [] if name else [required(path.child("name"))]
    for index, item in enumerate(source.get("items") or ()):
        errors += key_to_path(path.child("items").index(index), item)
        if item.get("path"):
            errors += claimed.claim(item["path"], name)
    return errors


def _fields(path: Path, source: Object, claimed: _ClaimedPaths, _volume: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    for item in source.get("items") or ():
        errors += _downward_file(path, item)
        if item.get("path"):
            errors += claimed.claim(item["path"], item["path"])
    return errors


def _token(path: Path, source: Object, _claimed: _ClaimedPaths, volume: Path) -> list[FieldError]:
    """Check a token; Kubernetes reports its path as if it were the volume's."""
    errors: list[FieldError] = []
    seconds, (least, most) = source.get("expirationSeconds"), TOKEN_SECONDS
    if seconds is not None:
        at = path.child("expirationSeconds")
        if seconds < least:
            errors.append(invalid(at, seconds, "may not specify a duration less than 10 minutes"))
        if seconds > most:
            errors.append(invalid(at, seconds, "may not specify a duration larger than 2^32 seconds"))
    return errors + file_path(volume.child("path"), source.get("path"))


def _trust_bundle(path: Path, source: Object, claimed: _ClaimedPaths, _volume: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    name, signer, selector = source.get("name"), source.get("signerName"), source.get("labelSelector")
    if name is not None and signer is not None:
        errors.append(invalid(path, _shape(source), "only one of name and signerName may be used"))
    elif name is not None:
        errors += [] if name else [required(path.child("name"), "must be a valid object name")]
        texts = trust_bundle_name(name)
        errors += [invalid(path.child("name"), name, f"not a valid clustertrustbundlename: {text}") for text in texts]
        if selector is not None:
            text = "labelSelector must be unset if name is specified"
            errors.append(invalid(path.child("labelSelector"), selector, text))
    elif signer is not None:
        errors += [] if signer else [required(path.child("signerName"), "must be a valid signer name")]
        errors += signer_name(path.child("signerName"), signer)
        errors += label_selector(path.child("labelSelector"), selector)
    else:
        errors.append(required(path, "either name or signerName must be specified"))
    value = source.get("path") or ""
    return errors + file_path(path.child("path"), value) + claimed.claim(value, value)


def _shape(source: Object) -> object:
    from hyperkube_api.meta.go_shape import go_shape

    return go_shape("hyperkube_api.core.v1:ClusterTrustBundleProjection", source)


def _pod_certificate(path: Path, source: Object, claimed: _ClaimedPaths, _volume: Path) -> list[FieldError]:
    signer, kind = source.get("signerName") or "", source.get("keyType") or ""
    errors = signer_name(path.child("signerName"), signer)
    if kind not in KEY_TYPES:
        errors.append(not_supported(path.child("keyType"), kind, KEY_TYPES))
    errors += _lifetime(path.child("maxExpirationSeconds"), source.get("maxExpirationSeconds"), signer)
    errors += user_annotations(path.child("userAnnotations"), source.get("userAnnotations") or {})
    given = [member for member in _CERTIFICATE_PATHS if source.get(member)]
    for member in given:
        errors += local_path(path.child(member), source[member])
        errors += claimed.claim(source[member], source[member])
    if not given:
        text = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"
        errors.append(required(path, text))
    return errors


def _lifetime(path: Path, seconds: int | None, signer: str) -> Iterable[FieldError]:
    """Yield what is wrong with how long a certificate should hold."""
    if seconds is None:
        return
    least, most = CERTIFICATE_SECONDS
    if is_kubernetes_signer(signer):
        most = KUBERNETES_CERTIFICATE_SECONDS
    if seconds < least:
        yield invalid(path, seconds, f"if provided, maxExpirationSeconds must be >= {least}")
    if seconds > most:
        yield invalid(path, seconds, f"if provided, maxExpirationSeconds must be <= {most}")


_PROJECTIONS: dict[str, Callable[[Path, Object, _ClaimedPaths, Path], list[FieldError]]] = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _fields,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _pod_certificate,
}
