"""Pod certificate requests: kubelets ask signers for certificates of pods.

Source: kubernetes pkg/registry/certificates/podcertificaterequest, pkg/apis/certificates/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.core.volumes.validation.signers import is_kubernetes_signer, signer_name
from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.specs import Version, fields
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import by_rule, condition_list, unchanged

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required, too_long
from hyperkube.machinery.objects import Object

SPEC = ROOT.child("spec")
MIN_EXPIRATION_SECONDS = 3600
MAX_EXPIRATION_SECONDS = 91 * 86400
KUBERNETES_MAX_EXPIRATION_SECONDS = 86400
MAX_UID_LENGTH = 128
_NAMES = (("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID"))


class PodCertificateRequestStrategy(StatusStrategy):
    """A request whose specification never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec",)}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check whom the certificate is for, who signs it and for how long."""
        spec = obj.get("spec") or {}
        errors = signer_name(SPEC.child("signerName"), spec.get("signerName") or "")
        for name, uid in _NAMES:
            errors += _named(SPEC.child(name), spec.get(name) or "")
            errors += _uid(SPEC.child(uid), spec.get(uid) or "")
        return errors + _expiration(spec)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the specification stayed."""
        return unchanged(SPEC, obj.get("spec"), old.get("spec"))

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions."""
        return condition_list(ROOT.child("status", "conditions"), (obj.get("status") or {}).get("conditions"))


def _named(path: Path, name: str) -> list[FieldError]:
    return by_rule(path, name, names.dns1123_subdomain) if name else [required(path)]


def _uid(path: Path, uid: str) -> list[FieldError]:
    if not uid:
        return [required(path)]
    return [too_long(path, MAX_UID_LENGTH)] if len(uid) > MAX_UID_LENGTH else []


def _expiration(spec: Object) -> list[FieldError]:
    path, seconds = SPEC.child("maxExpirationSeconds"), spec.get("maxExpirationSeconds")
    if seconds is None:
        return [required(path, "must be set")]
    most = MAX_EXPIRATION_SECONDS
    if is_kubernetes_signer(spec.get("signerName") or ""):
        most = KUBERNETES_MAX_EXPIRATION_SECONDS
    if MIN_EXPIRATION_SECONDS <= seconds <= most:
        return []
    return [invalid(path, seconds, f"must be in the range [{MIN_EXPIRATION_SECONDS}, {most}]")]


def state(obj: Object) -> str:
    """Return what has become of a request: Issued, Denied, Failed, or Pending."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((str(entry["type"]) for entry in conditions if entry.get("status") == "True"), "Pending")


def pod_certificate_request_cells(obj: Object, _now: datetime) -> list[Any]:
    """Return whom the certificate is for, who signs it, and what has become of the request."""
    spec = cells.spec_of(obj)
    row = [spec.get(member) or "" for member in ("podName", "serviceAccountName", "nodeName", "signerName")]
    annotations = cells.labels(spec.get("unverifiedUserAnnotations"))
    return [cells.name(obj), *row, state(obj), annotations]


def pod_certificate_requests(version: Version) -> ResourceSpec:
    """Return the specification of the resource ``podcertificaterequests``."""
    titles = ("PodName", "ServiceAccountName", "NodeName", "SignerName", "State", "UnverifiedUserAnnotations")
    return version.resource(
        "podcertificaterequests",
        "PodCertificateRequest",
        served=False,
        storage_prefix="podcertificaterequests",
        storage_version_hash="wYA9yXQH8fg=",
        strategy=PodCertificateRequestStrategy(),
        columns=(NAME, *(column(title) for title in titles)),
        cells=pod_certificate_request_cells,
        fields=fields("spec.nodeName", "spec.signerName", "spec.podName"),
        subresources=(version.status("PodCertificateRequest"),),
    )
