"""Makes the certificates a cluster needs: authorities, server and client certificates, key pairs for signing tokens.

Keys are on the curve P-256: made in well under a millisecond, where an RSA key takes a tenth of a second and more.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

CA_DAYS = 3650
LEAF_DAYS = 365
_BACKDATE = timedelta(minutes=5)
"""Certificates count from a little earlier, for peers whose clocks are behind."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, cert_file: str | Path, key_file: str | Path) -> None:
        """Write both files, the key readable by its owner alone; folders are made as needed."""
        write_private(Path(key_file), self.key)
        write_public(Path(cert_file), self.certificate)

    @classmethod
    def read(cls, cert_file: str | Path, key_file: str | Path) -> KeyPair:
        """Read a pair back.

        Raises:
            UsageError: a file cannot be read.
        """
        try:
            return cls(Path(cert_file).read_bytes(), Path(key_file).read_bytes())
        except OSError as error:
            raise UsageError(f"cannot read {error.filename!r}: {error.strerror}") from error


def make_ca(common_name: str, *, days: int = CA_DAYS, clock: Clock | None = None) -> KeyPair:
    """Make a certificate authority that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = (
        _builder(name, name, key.public_key(), days, (clock or SystemClock()).now())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def issue(
    ca: KeyPair,
    common_name: str,
    *,
    organizations: Sequence[str] = (),
    dns: Sequence[str] = (),
    ips: Sequence[str] = (),
    server: bool = False,
    client: bool = False,
    days: int = LEAF_DAYS,
    clock: Clock | None = None,
) -> KeyPair:
    """Issue a certificate: for a server with its names and addresses, for a client with its user and groups.

    Args:
        ca: who signs.
        common_name: the user name of a client, e.g. ``system:kube-scheduler``.
        organizations: the groups of a client, e.g. ``system:masters``.
        dns: names a server answers to; wildcards allowed.
        ips: addresses a server answers on.
        server: may serve TLS.
        client: may log in.
        days: until it expires.
        clock: what time it is.
    """
    authority = x509.load_pem_x509_certificate(ca.certificate)
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, common_name))
    now = (clock or SystemClock()).now()
    builder = _builder(x509.Name(attributes), authority.subject, key.public_key(), days, now)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
    uses = [ExtendedKeyUsageOID.SERVER_AUTH] * server + [ExtendedKeyUsageOID.CLIENT_AUTH] * client
    if uses:
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    names: list[x509.GeneralName] = [x509.DNSName(name) for name in dns]
    names += [x509.IPAddress(ipaddress.ip_address(address)) for address in ips]
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())  # type: ignore[arg-type]  # an authority's key signs
    builder = builder.add_extension(issuer_key, critical=False)
    signer = serialization.load_pem_private_key(ca.key, None)
    return _pair(builder.sign(signer, hashes.SHA256()), key)  # type: ignore[arg-type]  # an authority's key signs


def self_signed(
    common_name: str,
    *,
    dns: Sequence[str] = (),
    ips: Sequence[str] = (),
    days: int = LEAF_DAYS,
    clock: Clock | None = None,
) -> KeyPair:
    """Make a server certificate under an authority of its own, whose key is thrown away; the file holds the chain.

    Clients that want to check it give the second certificate of the file as their CA, as with Kubernetes' own.
    """
    now = (clock or SystemClock()).now()
    ca = make_ca(f"{common_name}-ca@{int(now.timestamp())}", days=days, clock=clock)
    leaf = issue(ca, f"{common_name}@{int(now.timestamp())}", dns=dns, ips=ips, server=True, days=days, clock=clock)
    return KeyPair(leaf.certificate + ca.certificate, leaf.key)


def ensure_self_signed(
    cert_file: str | Path,
    key_file: str | Path,
    common_name: str,
    *,
    dns: Sequence[str] = (),
    ips: Sequence[str] = (),
    clock: Clock | None = None,
) -> bool:
    """Make a self-signed pair unless both files are there and still valid; tell whether one was made."""
    cert_path, key_path = Path(cert_file), Path(key_file)
    now = (clock or SystemClock()).now()
    if cert_path.exists() and key_path.exists() and expires(cert_path.read_bytes()) > now:
        return False
    self_signed(common_name, dns=dns, ips=ips, clock=clock).write(cert_path, key_path)
    return True


def expires(certificate: bytes) -> datetime:
    """Return when the first certificate of a PEM file ends.

    Raises:
        UsageError: there is no certificate in it.
    """
    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError as error:
        raise UsageError(f"not a PEM certificate: {error}") from error


def signing_key() -> tuple[bytes, bytes]:
    """Make a key pair for signing tokens; returns (private, public), both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return _key_pem(key), public


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    _write(path, content, 0o600)


def write_public(path: Path, content: bytes) -> None:
    """Write a file that all can read, whole or not at all."""
    _write(path, content, 0o644)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    fresh.replace(path)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int, now: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(now + timedelta(days=days))
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> KeyPair:
    return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), _key_pem(key))


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
