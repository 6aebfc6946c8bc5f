"""What is wrong with signing requests.

Source: kubernetes pkg/apis/certificates/validation/validation.go.
"""

from __future__ import annotations

from base64 import b64decode

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
_CONDITIONS = _STATUS.child("conditions")
USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment",
    "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel",
    "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip
LEGACY_UNKNOWN = "kubernetes.io/legacy-unknown"


def validate_request(obj: Object) -> list[FieldError]:
    """Check a new signing request."""
    spec = obj["spec"]
    errors: list[FieldError] = []
    fault = _request_fault(spec.get("request") or "")
    if fault:
        errors.append(invalid(_SPEC.child("request"), spec.get("request") or "", fault))
    usages = spec.get("usages") or []
    if not usages:
        errors.append(required(_SPEC.child("usages")))
    for index, usage in enumerate(usages):
        at = _SPEC.child("usages").index(index)
        if usage not in USAGES:
            errors.append(not_supported(at, usage, USAGES))
        if usage in usages[:index]:
            errors.append(duplicate(at, usage))
    signer = spec.get("signerName") or ""
    if signer == LEGACY_UNKNOWN:
        text = "the legacy signerName is not allowed via this API version"
        errors.append(invalid(_SPEC.child("signerName"), signer, text))
    else:
        errors += _signer(_SPEC.child("signerName"), signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid(_SPEC.child("expirationSeconds"), seconds, text))
    return errors + _conditions(obj)


def _request_fault(encoded: str) -> str:
    """Return what is wrong with a PEM-encoded request, empty if nothing is."""
    from cryptography import x509

    data = b64decode(encoded)
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in data:
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        x509.load_pem_x509_csr(data)
    except ValueError as error:
        return str(error)
    return ""


def _signer(path: Path, name: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    domain, slash, rest = name.partition("/")
    if not slash or not rest or "/" in rest:
        return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
    errors = [invalid(path, domain, text) for text in names.dns1123_subdomain(domain)]
    if domain.count(".") < 1:
        errors.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    for part in rest.split("."):
        errors += [invalid(path, rest, f'validating label "{part}": {text}') for text in names.dns1123_subdomain(part)]
    return errors


def _conditions(obj: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        at, kind, status = _CONDITIONS.index(index), condition.get("type") or "", condition.get("status") or ""
        if not kind:
            errors.append(required(at.child("type")))
        if not status:
            errors.append(required(at.child("status")))
        elif kind in {"Approved", "Denied", "Failed"} and status != "True":
            errors.append(not_supported(at.child("status"), status, ("True",)))
        elif status not in {"True", "False", "Unknown"}:
            errors.append(not_supported(at.child("status"), status, ("False", "True", "Unknown")))
        if kind in seen:
            errors.append(duplicate(at.child("type"), kind))
        seen.add(kind)
        if kind in {"Approved", "Denied"} and {"Approved", "Denied"} <= seen:
            text = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid(at.child("type"), kind, text))
    return errors


def _decided(obj: Object) -> dict[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for condition in (obj.get("status") or {}).get("conditions") or ():
        found.setdefault(condition.get("type") or "", []).append(condition)
    return found


def validate_request_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of the request itself: who decided stays."""
    errors = _kept_decisions(obj, old, added=True)
    return errors + _kept_certificate(obj, old)


def validate_approval_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a write to ``/approval``: a decision is not taken back."""
    return _conditions(obj) + _kept_decisions(obj, old, added=False)


def validate_status_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a signer's answer."""
    errors = _conditions(obj) + _kept_decisions(obj, old, added=True)
    certificate = (obj.get("status") or {}).get("certificate")
    if certificate and b"-----BEGIN CERTIFICATE-----" not in b64decode(certificate):
        text = "must contain at least one CERTIFICATE PEM block"
        errors.append(invalid(_STATUS.child("certificate"), "<certificate data>", text))
    return errors + _kept_certificate(obj, old)


def _kept_decisions(obj: Object, old: Object, *, added: bool) -> list[FieldError]:
    now, before = _decided(obj), _decided(old)
    errors: list[FieldError] = []
    for kind in ("Approved", "Denied", "Failed"):
        gone = kind in before and kind not in now
        came = added and kind != "Failed" and kind in now and kind not in before
        if gone:
            errors.append(forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"'))
        if came:
            errors.append(forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"'))
    return errors


def _kept_certificate(obj: Object, old: Object) -> list[FieldError]:
    now, before = (obj.get("status") or {}).get("certificate"), (old.get("status") or {}).get("certificate")
    if before and now != before:
        text = "updates may not set certificate content" if not now else "existing certificate may not be changed"
        return [forbidden(_STATUS.child("certificate"), text)]
    return []
