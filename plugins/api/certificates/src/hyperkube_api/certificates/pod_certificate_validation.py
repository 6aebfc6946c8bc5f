"""What a pod certificate request must say: whom it is for, who signs, for how long, and a key that the requester has.

Source: kubernetes pkg/apis/certificates/validation/validation.go (ValidatePodCertificateRequestCreate).
"""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING

from hyperkube_api.core.volumes.validation.signers import is_kubernetes_signer, signer_name, user_annotations
from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import OMITTED, ROOT, FieldError, Path, invalid, required, too_long
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

SPEC = ROOT.child("spec")
MIN_EXPIRATION_SECONDS = 3600
MAX_EXPIRATION_SECONDS = 91 * 86400
KUBERNETES_MAX_EXPIRATION_SECONDS = 86400
MAX_UID_LENGTH = 128
MAX_KEY_BYTES = 10 * 1024
_NAMES = (("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID"))
_KEY_MEMBERS = ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession")


def validate_spec(spec: Object) -> list[FieldError]:
    """Return what is wrong with a request's specification."""
    errors = signer_name(SPEC.child("signerName"), spec.get("signerName") or "")
    for name, uid in _NAMES:
        errors += _named(SPEC.child(name), spec.get(name) or "")
        errors += _uid(SPEC.child(uid), spec.get(uid) or "")
    errors += user_annotations(SPEC.child("unverifiedUserAnnotations"), spec.get("unverifiedUserAnnotations") or {})
    return errors + _expiration(spec) + _key(spec)


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


def _key(spec: Object) -> list[FieldError]:
    """Check the key, which comes as a PKCS #10 request or, from kubelets before 1.36, bare with a signature."""
    given = {member: b64decode(spec[member]) for member in _KEY_MEMBERS if spec.get(member)}
    for member, data in given.items():
        if len(data) > MAX_KEY_BYTES:
            return [too_long(SPEC.child(member), MAX_KEY_BYTES)]
    if set(given) == {"stubPKCS10Request"}:
        return _stub_request(SPEC.child("stubPKCS10Request"), given["stubPKCS10Request"])
    if set(given) == {"pkixPublicKey", "proofOfPossession"}:
        uid = str(spec.get("podUID") or "").encode()
        return _bare_key(SPEC.child("pkixPublicKey"), given["pkixPublicKey"], given["proofOfPossession"], uid)
    text = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
    return [invalid(SPEC, OMITTED, text)]


def _stub_request(path: Path, der: bytes) -> list[FieldError]:
    from cryptography import x509

    try:
        request = x509.load_der_x509_csr(der)
        errors = _supported(path, request.public_key())
        valid = bool(errors) or request.is_signature_valid
    except ValueError:
        return [invalid(path, OMITTED, "must be a valid PKCS#10 CSR")]
    return errors if valid else [invalid(path, OMITTED, "could not verify the signature of the CSR")]


def _bare_key(path: Path, pkix: bytes, proof: bytes, uid: bytes) -> list[FieldError]:
    try:
        key = public_key(pkix)
    except ValueError:
        return [invalid(path, OMITTED, "must be a valid PKIX-serialized public key")]
    errors = _supported(path, key)
    if errors or _proves(key, proof, uid):
        return errors
    return [invalid(SPEC.child("proofOfPossession"), OMITTED, "could not verify proof-of-possession signature")]


def public_key(pkix: bytes) -> PublicKeyTypes:
    """Return a key from its PKIX serialization.

    Raises:
        ValueError: it is none.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        return load_der_public_key(pkix)
    except UnsupportedAlgorithm as error:
        raise ValueError(str(error)) from error


def _supported(path: Path, key: PublicKeyTypes) -> list[FieldError]:
    """Check type and size of a key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if isinstance(key, ed25519.Ed25519PublicKey):
        return []
    if isinstance(key, ec.EllipticCurvePublicKey):
        if isinstance(key.curve, ec.SECP256R1 | ec.SECP384R1 | ec.SECP521R1):
            return []
        return [invalid(path, f"curve {key.curve.name}", "elliptic public keys must use curve P256 or P384")]
    if isinstance(key, rsa.RSAPublicKey):
        if key.key_size in {3072, 4096}:
            return []
        return [invalid(path, f"{key.key_size}-bit modulus", "RSA keys must have modulus size 3072 or 4096")]
    return [invalid(path, OMITTED, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")]


def _proves(key: PublicKeyTypes, proof: bytes, message: bytes) -> bool:
    """Tell whether a signature of the message was made with the key's private half."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(proof, message)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(proof, message, ec.ECDSA(hashes.SHA256()))
        elif isinstance(key, rsa.RSAPublicKey):
            pss = padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=padding.PSS.AUTO)
            key.verify(proof, message, pss, hashes.SHA256())
        else:
            return False
    except InvalidSignature:
        return False
    return True
