"""Warnings for secrets."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from hyperkube_api.core.secrets.warnings import secret_warnings


def pem(kind, content=b"x"):
    return f"-----BEGIN {kind}-----\n{b64encode(content).decode()}\n-----END {kind}-----\n"


def a_pair(key):
    """Return a certificate that a key signed for itself, and the key, in PEM."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, start, start + timedelta(days=1))
    certificate = made.sign(key, SHA256()).public_bytes(Encoding.PEM)
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.decode(), text.decode()


CERTIFICATE, KEY = a_pair(ec.generate_private_key(ec.SECP256R1()))

OTHER = a_pair(ec.generate_private_key(ec.SECP256R1()))[1]
RSA = a_pair(rsa.generate_private_key(65537, 2048))[1]
SKIPPED = "after skipping PEM blocks of the following types: [A B]"


@pytest.mark.parametrize(
    ("certificate", "key", "found"),
    [
        (CERTIFICATE, KEY, None),
        (f"text\n{CERTIFICATE}{CERTIFICATE}", f"{pem('EC PARAMETERS')}{KEY}", None),
        ("x", KEY, "tls: failed to find any PEM data in certificate input"),
        ("-----BEGIN CERTIFICATE-----\n", KEY, "tls: failed to find any PEM data in certificate input"),
        (KEY, CERTIFICATE, ("tls: failed to find certificate PEM data in certificate input, but did find a private key; "
         "PEM inputs may have been switched")),
        (pem("A") + pem("B"), KEY, f'tls: failed to find "CERTIFICATE" PEM block in certificate input {SKIPPED}'),
        (CERTIFICATE, "x", "tls: failed to find any PEM data in key input"),
        (CERTIFICATE, CERTIFICATE, "tls: found a certificate rather than a key in the PEM for the private key"),
        (CERTIFICATE, pem("A") + pem("B"),
         f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input {SKIPPED}'),
        (pem("CERTIFICATE"), KEY, "x509: malformed certificate"),
        (CERTIFICATE, pem("PRIVATE KEY"), "tls: failed to parse private key"),
        (CERTIFICATE, RSA, "tls: private key type does not match public key type"),
        (CERTIFICATE, OTHER, "tls: private key does not match public key"),
    ],
)  # fmt: skip
def test_secrets(certificate, key, found):
    data = {"tls.crt": b64encode(certificate.encode()).decode(), "tls.key": b64encode(key.encode()).decode()}

    assert secret_warnings({"type": "kubernetes.io/tls", "data": data}) == ([found] if found else [])
    assert secret_warnings({"type": "Opaque", "data": data}) == []
