"""Validation of signing requests.

Source: kubernetes pkg/apis/certificates/validation/validation.go.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from hyperkube_api.meta.go_diff import shape_diff
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import Rule
from hyperkube_lib.pem import split_pem

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    quote,
    repeated,
    required,
    too_long,
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
MAX_DOMAIN, MAX_SIGNER = 253, 571
_FAILED = {"RSA": "crypto/rsa: verification error", "EC": "x509: ECDSA verification failure"}
_CONDITION = "hyperkube_api.certificates.v1:CertificateSigningRequestCondition"


def validate_request(obj: Object, old: Object | None = None) -> list[FieldError]:
    """Check a signing request; what is stored with a fault (`old`) may keep it."""
    spec = obj["spec"]
    errors: list[FieldError] = []
    fault = _request_fault(spec.get("request") or "")
    if fault:
        errors.append(invalid(_SPEC.child("request"), spec.get("request"), fault))
    errors += _usages(spec.get("usages") or [], ((old or {}).get("spec") or {}).get("usages") or [])
    signer, at = spec.get("signerName") or "", _SPEC.child("signerName")
    if signer == LEGACY_UNKNOWN and (old is None or old["spec"].get("signerName") != LEGACY_UNKNOWN):
        errors.append(invalid(at, signer, "the legacy signerName is not allowed via this API version"))
    else:
        errors += validate_signer(at, signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        text = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid(_SPEC.child("expirationSeconds"), seconds, text))
    errors += _conditions(obj, old)
    return errors + _certificate(obj, old)


def _usages(usages: list[str], before: list[str]) -> list[FieldError]:
    at = _SPEC.child("usages")
    errors = [] if usages else [required(at)]
    if set(before) <= set(USAGES):
        errors += [
            not_supported(at.index(index), usage, USAGES) for index, usage in enumerate(usages) if usage not in USAGES
        ]
    if len(set(before)) == len(before):
        errors += [duplicate(at.index(index), usage) for index, usage in repeated(usages)]
    return errors


def _request_fault(encoded: str) -> str:
    """Return what is wrong with a PEM-encoded request, empty if nothing is."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    data = b64decode(encoded)
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in data:
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        request = x509.load_pem_x509_csr(data)
        if request.is_signature_valid:
            return ""
    except ValueError as error:  # no request, or its key is none
        return str(error)
    key = request.public_key()
    kind = "RSA" if isinstance(key, rsa.RSAPublicKey) else "EC" if isinstance(key, ec.EllipticCurvePublicKey) else ""
    return _FAILED.get(kind, "x509: Ed25519 verification failure")


def validate_signer(path: Path, name: str) -> list[FieldError]:
    """Check the name of a signer: a domain and a path."""
    if not name:
        return [required(path)]
    segments = name.split("/")
    if len(segments) != 2:
        return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
    domain, rest = segments
    errors = [too_long(path, MAX_DOMAIN)] if len(domain) > MAX_DOMAIN else []
    errors += _labels(path, domain, names.dns1123_label)
    if "." not in domain:
        errors.append(invalid(path, domain, "should be a domain with at least two segments separated by dots"))
    errors += _labels(path, rest, names.dns1123_subdomain)
    return [*errors, too_long(path, MAX_SIGNER)] if len(name) > MAX_SIGNER else errors


def _labels(path: Path, text: str, rule: Rule) -> list[FieldError]:
    """Return what is wrong with the first part between dots that is wrong."""
    for part in text.split("."):
        errors = [invalid(path, text, f"validating label {quote(part)}: {problem}") for problem in rule(part)]
        if errors:
            return errors
    return []


def _certificate(obj: Object, old: Object | None) -> list[FieldError]:
    """Check the certificate, unless it stayed or the one before was no better."""
    now, before = ((each.get("status") or {}).get("certificate") or "" for each in (obj, old or {}))
    if old is not None and (now == before or _certificate_fault(before)):
        return []
    fault = _certificate_fault(now)
    return [invalid(_STATUS.child("certificate"), "<certificate data>", fault)] if fault else []


def _certificate_fault(encoded: str) -> str:
    from cryptography import x509

    if not encoded:
        return ""
    count = 0
    for kind, headers, data in pem_blocks(b64decode(encoded)):
        if kind != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(kind)}"
        if headers:
            return "no PEM block headers are permitted"
        try:
            x509.load_der_x509_certificate(data)
        except ValueError:
            return "x509: malformed certificate"
        count += 1
    return "" if count else "must contain at least one CERTIFICATE PEM block"


def pem_blocks(data: bytes) -> Iterator[tuple[str, bool, bytes]]:
    """Yield the kind of each PEM block, whether it has headers, and its bytes; skip what cannot be read."""
    for kind, lines in split_pem(data):
        head, blank, body = lines.replace(b"\r", b"").partition(b"\n\n")
        headers = bool(blank) and b":" in head
        try:
            content = b64decode(b"".join((body if headers else lines).split()), validate=True)
        except ValueError:
            continue
        yield kind, headers, content


def _conditions(obj: Object, old: Object | None = None) -> list[FieldError]:
    errors: list[FieldError] = []
    before = [item.get("type") or "" for item in ((old or {}).get("status") or {}).get("conditions") or ()]
    torn = {"Approved", "Denied"} <= set(before)
    seen: set[str] = set()
    for index, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        at, kind, status = _CONDITIONS.index(index), condition.get("type") or "", condition.get("status") or ""
        if not kind and "" not in before:
            errors.append(required(at.child("type")))
        allowed = ("True",) if kind in {"Approved", "Denied", "Failed"} else ("False", "True", "Unknown")
        if not status:
            errors.append(required(at.child("status")))
        elif status not in allowed:
            errors.append(not_supported(at.child("status"), status, allowed))
        other = {"Approved": "Denied", "Denied": "Approved"}.get(kind)
        if other in seen and not torn:
            text = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid(_CONDITIONS, kind, text))
        if kind in seen and len(set(before)) == len(before):
            errors.append(duplicate(at.child("type"), kind))
        seen.add(kind)
    return errors


def validate_request_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of the request itself: who decided stays."""
    return _update(obj, old)


def validate_approval_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a write to ``/approval``: a decision is not taken back."""
    return _update(obj, old, deciding=True)


def validate_status_update(obj: Object, old: Object) -> list[FieldError]:
    """Check a signer's answer."""
    return _update(obj, old, signing=True)


def _update(obj: Object, old: Object, *, deciding: bool = False, signing: bool = False) -> list[FieldError]:
    errors = validate_request(obj, old)
    errors += [
        forbidden(_CONDITIONS, f'updates may not remove a condition of type "{kind}"')
        for kind in ("Approved", "Denied", "Failed")
        if len(_decided(obj, kind)) < len(_decided(old, kind))
    ]
    for kind in () if deciding else ("Approved", "Denied"):
        now, before = _decided(obj, kind), _decided(old, kind)
        if len(now) > len(before):
            errors.append(forbidden(_CONDITIONS, f'updates may not add a condition of type "{kind}"'))
        elif len(now) == len(before) and now != before:
            shown = [[go_shape(_CONDITION, item) for item in items] for items in (before, now)]
            text = f'updates may not modify a condition of type "{kind}"\n{shape_diff(*shown)}'
            errors.append(forbidden(_CONDITIONS, text))
    now_content, content = ((each.get("status") or {}).get("certificate") or "" for each in (obj, old))
    if now_content == content:
        return errors
    at = _STATUS.child("certificate")
    if not signing:
        errors.append(forbidden(at, "updates may not set certificate content"))
    elif content:
        errors.append(forbidden(at, "updates may not modify existing certificate content"))
    return errors


def _decided(obj: Object, kind: str) -> list[Object]:
    return [item for item in (obj.get("status") or {}).get("conditions") or () if item.get("type") == kind]
