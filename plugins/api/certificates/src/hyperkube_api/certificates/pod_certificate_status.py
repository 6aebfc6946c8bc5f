"""A signer's answer to a pod certificate request: given once, and a certificate must be the one that was asked for.

Source: kubernetes pkg/apis/certificates/validation/validation.go (ValidatePodCertificateRequestStatusUpdate).
"""

from __future__ import annotations

from base64 import b64decode
from datetime import datetime, timedelta
from email.utils import parseaddr
from typing import TYPE_CHECKING

from hyperkube_api.certificates.pod_certificate_validation import public_key
from hyperkube_api.certificates.validation import pem_blocks
from hyperkube_api.meta.validation import condition_list

from hyperkube.machinery.field import OMITTED, ROOT, FieldError, Path, invalid, not_supported, required, too_long
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time, parse_time

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

STATUS = ROOT.child("status")
CHAIN = STATUS.child("certificateChain")
MAX_CHAIN_BYTES = 100 * 1024
KINDS = ("Issued", "Denied", "Failed")
_SKEW = timedelta(minutes=5)
_MARGIN = timedelta(minutes=10)
_MIN_LIFETIME = timedelta(hours=1)
_TIMES = {
    "notBefore": "must be present and consistent with the issued certificate",
    "notAfter": "must be present and consistent with the issued certificate",
    "beginRefreshAt": "must be present and in the range [notbefore+10min, notafter-10min]",
}


def validate_status(obj: Object, old: Object, now: datetime) -> list[FieldError]:
    """Return what is wrong with a new status."""
    status, before = (_without_empty(each.get("status") or {}) for each in (obj, old))
    errors = _known_conditions(status) + condition_list(STATUS.child("conditions"), status.get("conditions"))
    if errors:
        return errors  # they decide on all that follows
    kind = _kind(status)
    if _kind(before):
        same, text = status == before, "immutable after PodCertificateRequest is issued, denied, or failed"
    elif kind in {"Denied", "Failed"}:
        same = set(status) == {"conditions"}
        text = "non-condition status fields must be empty when denying or failing the PodCertificateRequest"
    elif kind == "Issued":
        return _issued(status, old.get("spec") or {}, now)
    else:
        same = status == before
        text = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
    return [] if same else [invalid(STATUS, OMITTED, text)]


def _without_empty(status: Object) -> Object:
    return {member: value for member, value in status.items() if value not in (None, "", [])}


def _kind(status: Object) -> str:
    return next((str(one["type"]) for one in status.get("conditions") or () if one.get("status") == "True"), "")


def _known_conditions(status: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    known = 0
    for index, condition in enumerate(status.get("conditions") or ()):
        path, kind, state = STATUS.child("conditions").index(index), condition.get("type"), condition.get("status")
        if kind not in KINDS:
            errors.append(not_supported(path.child("type"), kind, KINDS))
            continue
        known += 1
        if known > 1:
            text = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            errors.append(invalid(path.child("type"), kind, text))
        if state != "True":
            errors.append(not_supported(path.child("status"), state, ("True",)))
    return errors


def _issued(status: Object, spec: Object, now: datetime) -> list[FieldError]:
    chain = str(status.get("certificateChain") or "")
    if len(chain.encode()) > MAX_CHAIN_BYTES:
        return [too_long(CHAIN, MAX_CHAIN_BYTES)]
    certificates, problem = _certificates(chain)
    if problem:
        return [invalid(CHAIN, chain, problem)]
    leaf = certificates[0]
    errors = _names(leaf)
    if not _has_key(leaf, spec):
        return [*errors, invalid(CHAIN, chain, "leaf certificate was not issued to the requested public key")]
    errors += [required(STATUS.child(member), text) for member, text in _TIMES.items() if not status.get(member)]
    if errors:
        return errors
    times = [parse_time(status[member]) for member in _TIMES]
    wrong = _wrong_time(leaf, times[0], times[1], times[2], int(spec["maxExpirationSeconds"]), now)
    return [] if wrong is None else [wrong]


def _certificates(chain: str) -> tuple[list[Certificate], str]:
    """Return the certificates of a chain, the leaf first, and what is wrong with it."""
    from cryptography import x509

    found: list[Certificate] = []
    for kind, _, der in pem_blocks(chain.encode()):
        if kind != "CERTIFICATE":
            return [], "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
        try:
            found.append(x509.load_der_x509_certificate(der))
        except ValueError:
            which = "intermediate" if found else "leaf"
            return [], f"{which} certificate does not parse as valid X.509"
    return found, "" if found else "issued certificate chain must contain at least one certificate"


def _names(leaf: Certificate) -> list[FieldError]:
    """Check the alternative names of a certificate."""
    from cryptography import x509

    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    except ValueError:
        return [invalid(CHAIN, OMITTED, "leaf certificate does not parse as valid X.509")]
    errors: list[FieldError] = []
    for name in names.get_values_for_type(x509.DNSName):
        if not name:
            errors.append(invalid(CHAIN, name, "leaf certificate should not contain empty DNSName"))
        if ".." in name:
            errors.append(invalid(CHAIN, name, "leaf certificate's DNSName should not contain '..'"))
        if name.startswith(".") or name.endswith("."):
            errors.append(invalid(CHAIN, name, "leaf certificate's DNSName should not start or end with '.'"))
    errors += [
        invalid(CHAIN, address, "leaf certificate should not contain invalid EmailAddress")
        for address in names.get_values_for_type(x509.RFC822Name)
        if "@" not in parseaddr(address)[1]
    ]
    return errors


def _has_key(leaf: Certificate, spec: Object) -> bool:
    """Tell whether a certificate is for the key of the request."""
    from cryptography import x509

    if spec.get("stubPKCS10Request"):
        return x509.load_der_x509_csr(b64decode(spec["stubPKCS10Request"])).public_key() == leaf.public_key()
    return public_key(b64decode(spec["pkixPublicKey"])) == leaf.public_key()


def _wrong_time(
    leaf: Certificate, begin: datetime, end: datetime, refresh: datetime, most_seconds: int, now: datetime
) -> FieldError | None:
    """Return what is wrong with the times of an answer, None if nothing is."""
    lifetime = leaf.not_valid_after_utc - leaf.not_valid_before_utc
    at = {member: STATUS.child(member) for member in _TIMES}
    too_much = f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most_seconds})"
    rules: tuple[tuple[bool, Path, object, str], ...] = (
        (begin == leaf.not_valid_before_utc, at["notBefore"], begin,
         "must be set to the NotBefore time encoded in the leaf certificate"),
        (abs(begin - now) < _SKEW, at["notBefore"], begin,
         "must be set to within 5 minutes of kube-apiserver's current time"),
        (end == leaf.not_valid_after_utc, at["notAfter"], end,
         "must be set to the NotAfter time encoded in the leaf certificate"),
        (lifetime >= _MIN_LIFETIME, CHAIN, str(lifetime), "leaf certificate lifetime must be >= 1 hour"),
        (lifetime <= timedelta(seconds=most_seconds), CHAIN, str(lifetime), too_much),
        (refresh >= begin + _MARGIN, at["beginRefreshAt"], refresh,
         "must be at least 10 minutes after status.notBefore"),
        (refresh <= end - _MARGIN, at["beginRefreshAt"], refresh,
         "must be at least 10 minutes before status.notAfter"),
    )  # fmt: skip
    for holds, path, value, text in rules:
        if not holds:
            return invalid(path, format_time(value) if isinstance(value, datetime) else value, text)
    return None
