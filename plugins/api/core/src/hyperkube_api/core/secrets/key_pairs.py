"""Whether a certificate and a key in PEM make a pair for TLS, in the words of Go's ``crypto/tls`` (X509KeyPair)."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NoBase64

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key
from hyperkube_lib.pem import split_pem

_CERTIFICATE, _KEY = "CERTIFICATE", "PRIVATE KEY"


def key_pair_error(certificate: bytes, key: bytes) -> str:
    """Return why a certificate (or a chain, its own first) and a private key are no pair; empty if they are."""
    chain, skipped = _split(_blocks(certificate), _CERTIFICATE)
    if not chain:
        return _no_certificate(skipped)
    keys, skipped = _split(_blocks(key), _KEY)
    if not keys:
        return _no_key(skipped)
    try:
        public = x509.load_der_x509_certificate(chain[0]).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "x509: malformed certificate"
    try:
        private = load_der_private_key(keys[0], password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    other = private.public_key()
    if type(other) is not type(public):
        return "tls: private key type does not match public key type"
    shown = [one.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) for one in (public, other)]
    return "" if shown[0] == shown[1] else "tls: private key does not match public key"


def _blocks(text: bytes) -> list[tuple[str, bytes]]:
    """Return the type and the content of each block of PEM."""
    found: list[tuple[str, bytes]] = []
    for kind, body in split_pem(text):
        try:
            found.append((kind, b64decode(b"".join(body.split()), validate=True)))
        except NoBase64:
            continue
    return found


def _split(blocks: list[tuple[str, bytes]], ending: str) -> tuple[list[bytes], list[str]]:
    """Return the contents of the blocks of a type, and the types of the others."""
    wanted = [content for kind, content in blocks if kind == ending or kind.endswith(f" {ending}")]
    return wanted, [kind for kind, _ in blocks if kind != ending and not kind.endswith(f" {ending}")]


def _no_certificate(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in certificate input"
    if len(skipped) == 1 and skipped[0].endswith(_KEY):
        found = "but did find a private key; PEM inputs may have been switched"
        return f"tls: failed to find certificate PEM data in certificate input, {found}"
    return f'tls: failed to find "CERTIFICATE" PEM block in certificate input after {_skipping(skipped)}'


def _no_key(skipped: list[str]) -> str:
    if not skipped:
        return "tls: failed to find any PEM data in key input"
    if skipped == [_CERTIFICATE]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    return f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after {_skipping(skipped)}'


def _skipping(kinds: list[str]) -> str:
    return f"skipping PEM blocks of the following types: [{' '.join(kinds)}]"
