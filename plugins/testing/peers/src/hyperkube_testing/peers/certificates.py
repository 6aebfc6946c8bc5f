"""Small certificate authorities for tests: fast keys, any dates, any subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_START = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Issued:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: EllipticCurvePrivateKey

    @property
    def der(self) -> bytes:
        """The certificate as TLS carries it."""
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def pem(self) -> bytes:
        """The certificate as files hold it."""
        return self.certificate.public_bytes(Encoding.PEM)


def issue(
    name: str,
    groups: Sequence[str] = (),
    *,
    by: Issued | None = None,
    authority: bool = False,
    start: datetime = _START,
    days: float = 1,
    server: bool = False,
    path_length: int | None = None,
    critical: Sequence[x509.ExtensionType] = (),
) -> Issued:
    """Return a certificate for a subject, signed by another one or by itself, with more extensions if wanted."""
    key = generate_private_key(SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    if name:
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    subject = x509.Name(attributes)
    issuer = by.certificate.subject if by is not None else subject
    usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=path_length), critical=True)
    )
    if not authority:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    for extension in critical:
        builder = builder.add_extension(extension, critical=True)
    return Issued(builder.sign(by.key if by is not None else key, SHA256()), key)
