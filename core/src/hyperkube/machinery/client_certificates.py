"""Is a client's certificate signed by an authority that we trust, now and for this purpose?

The TLS layer only proves that the client holds the key; the chain is checked here, per authority file, so that front
proxies and users can have authorities of their own. A changed file is read again at the next check.
Source of the rules: RFC 5280, kubernetes apiserver ``pkg/authentication/request/x509``.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_LONGEST_CHAIN = 5


class CertificateRefused(ValueError):
    """The certificate proves nothing: not signed by a trusted authority, out of date, or for another purpose."""


class CertificateAuthorities:
    """The authorities of one PEM file."""

    def __init__(self, path: str) -> None:
        """Read the file.

        Raises:
            UsageError: it cannot be read, or holds no certificate.
        """
        self._path = Path(path)
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._trusted: list[Certificate] = []
        self._current()

    def _current(self) -> list[Certificate]:
        from cryptography.x509 import load_pem_x509_certificates

        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            with self._lock:
                if stamp != self._stamp:
                    self._trusted = load_pem_x509_certificates(self._path.read_bytes())
                    self._stamp = stamp
                return self._trusted
        except (OSError, ValueError) as error:
            if self._trusted:  # a file that is just being replaced: go on with what was good
                return self._trusted
            raise UsageError(f"cannot read certificate authorities from {str(self._path)!r}: {error}") from error

    def verify(self, chain: Sequence[bytes], now: datetime) -> Certificate:
        """Return the leaf of a chain of DER certificates, leaf first, that leads to a trusted authority.

        Raises:
            CertificateRefused: it does not, or a certificate on the way is out of date or for another purpose.
        """
        from cryptography.x509 import load_der_x509_certificate

        try:
            certificates = [load_der_x509_certificate(der) for der in chain]
        except ValueError as error:
            raise CertificateRefused(f"malformed certificate: {error}") from error
        if not certificates:
            raise CertificateRefused("no certificate")
        leaf = certificates[0]
        if not _is_for_clients(leaf):
            raise CertificateRefused("certificate specifies an incompatible key usage")
        if not self._leads_to_trust(leaf, certificates[1:], now, _LONGEST_CHAIN):
            raise CertificateRefused("certificate signed by unknown authority or out of date")
        return leaf

    def _leads_to_trust(
        self, certificate: Certificate, others: Sequence[Certificate], now: datetime, depth: int
    ) -> bool:
        if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc or depth == 0:
            return False
        for issuer in self._current():
            valid = issuer.not_valid_before_utc <= now <= issuer.not_valid_after_utc
            if valid and (issuer == certificate or _issued(issuer, certificate)):
                return True
        return any(
            _is_authority(issuer)
            and _issued(issuer, certificate)
            and self._leads_to_trust(issuer, [other for other in others if other is not issuer], now, depth - 1)
            for issuer in others
        )


def _issued(issuer: Certificate, certificate: Certificate) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _is_authority(certificate: Certificate) -> bool:
    from cryptography.x509 import BasicConstraints, ExtensionNotFound

    try:
        return certificate.extensions.get_extension_for_class(BasicConstraints).value.ca
    except (ExtensionNotFound, ValueError):
        return False


def _is_for_clients(certificate: Certificate) -> bool:
    from cryptography.x509 import ExtendedKeyUsage, ExtensionNotFound
    from cryptography.x509.oid import ExtendedKeyUsageOID

    try:
        usages = certificate.extensions.get_extension_for_class(ExtendedKeyUsage).value
    except ExtensionNotFound:
        return True
    except ValueError:
        return False
    return ExtendedKeyUsageOID.CLIENT_AUTH in usages or ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE in usages
