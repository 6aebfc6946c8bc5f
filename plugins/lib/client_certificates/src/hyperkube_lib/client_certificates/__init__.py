"""Is a client's certificate signed by an authority that we trust, now and for this purpose?

The TLS layer only proves that the client holds the key; the chain is checked here, per authority file, so that front
proxies and users can have authorities of their own. A changed file is read again at the next check. The library that
verifies takes 3.5 MiB, so it is loaded with the first chain of which nothing is noted (see `noted`).
Source of the rules: RFC 5280, kubernetes apiserver ``pkg/authentication/request/x509``, Go ``crypto/x509`` (who may
issue, for what, how long a chain, no signatures over MD5 or SHA-1, no critical extension that is not understood).
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hyperkube_lib.client_certificates.noted import NotedCertificates

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import AUTHENTICATED_GROUP, UserInfo, unescape_extra_key

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, ExtensionType

T = TypeVar("T", bound="ExtensionType")

_LONGEST_CHAIN = 5
_REMEMBERED_CHAINS = 64
_UID_OID = "1.3.6.1.4.1.57683.2"
_BROKEN_HASHES = frozenset({"md5", "sha1"})


class CertificateRefused(ValueError):
    """The certificate proves nothing: not signed by a trusted authority, out of date, or for another purpose."""


def user_of(certificate: Certificate) -> UserInfo | None:
    """Return the user that a certificate's subject names, or None when it has no common name.

    The organizations are the groups.
    Source: kubernetes apiserver ``pkg/authentication/request/x509/x509.go`` (CommonNameUserConversion).
    """
    from cryptography.x509.oid import NameOID, ObjectIdentifier

    subject = certificate.subject
    names = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not names or not names[0].value:
        return None
    groups = [str(group.value) for group in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    uids = [str(uid.value) for uid in subject.get_attributes_for_oid(ObjectIdentifier(_UID_OID))]
    if AUTHENTICATED_GROUP not in groups:
        groups.append(AUTHENTICATED_GROUP)
    return UserInfo(str(names[0].value), uids[0] if len(uids) == 1 else "", tuple(groups))


class Vouched(NamedTuple):
    """A chain that leads to one of the authorities of `trusted`, at any time of these two and between."""

    trusted: Sequence[Certificate]
    leaf: Certificate
    since: datetime
    until: datetime


class CertificateAuthorities:
    """The authorities of one PEM file, and the latest chains that they have vouched for; thread-safe."""

    def __init__(self, path: str) -> None:
        """Look whether OpenSSL can read the file: it is read for good when a chain is to be verified.

        Raises:
            UsageError: it cannot be read, or holds no certificate.
        """
        self._path = Path(path)
        self._noted = NotedCertificates(path)
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._trusted: list[Certificate] = []
        self._vouched: dict[tuple[bytes, ...], Vouched] = {}
        if not _is_readable(path):
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

    def user(self, chain: Sequence[bytes], now: datetime) -> UserInfo | None:
        """Return the user that a chain's leaf names, see `verify`; None when it has no common name.

        Raises:
            CertificateRefused: as `verify`.
        """
        noted = self.noted(chain, now)
        return noted if noted is not None else user_of(self.verify(chain, now))

    def noted(self, chain: Sequence[bytes], now: datetime) -> UserInfo | None:
        """Return the user that is noted of a chain's leaf beside the file; None: nothing usable is."""
        return self._noted.user(chain[0], now) if chain else None

    def verify(self, chain: Sequence[bytes], now: datetime) -> Certificate:
        """Return the leaf of a chain of DER certificates, leaf first, that leads to a trusted authority.

        Raises:
            CertificateRefused: it does not, or a certificate on the way is out of date or for another purpose.
        """
        return self.vouched(chain, now).leaf

    def vouched(self, chain: Sequence[bytes], now: datetime) -> Vouched:
        """Verify a chain, see `verify`, and tell for how long that holds.

        What was found of a chain is remembered, for as long as the file stays and all certificates on the way are in
        date: a component shows the same one with each connection.

        Raises:
            CertificateRefused: as `verify`; or the file has become unreadable before anything was verified.
        """
        from cryptography.x509 import load_der_x509_certificate

        try:
            trusted, key = self._current(), tuple(chain)
        except UsageError as error:
            raise CertificateRefused(str(error)) from error
        known = self._vouched.get(key)
        if known is not None and known.trusted is trusted and known.since <= now <= known.until:
            return known
        try:
            certificates = [load_der_x509_certificate(der) for der in chain]
        except ValueError as error:
            raise CertificateRefused(f"malformed certificate: {error}") from error
        if not certificates:
            raise CertificateRefused("no certificate")
        leaf = certificates[0]
        if not _is_for_clients(leaf):
            raise CertificateRefused("certificate specifies an incompatible key usage")
        way = _way_to_trust([leaf], certificates[1:], trusted, now)
        if way is None:
            raise CertificateRefused("certificate signed by unknown authority or out of date")
        since = max(certificate.not_valid_before_utc for certificate in way)
        until = min(certificate.not_valid_after_utc for certificate in way)
        with self._lock:
            while len(self._vouched) >= _REMEMBERED_CHAINS:
                del self._vouched[next(iter(self._vouched))]
            found = self._vouched[key] = Vouched(trusted, leaf, since, until)
        return found


def _is_readable(path: str) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_verify_locations(path)
    except (OSError, ssl.SSLError):
        return False
    return True


def _way_to_trust(
    path: Sequence[Certificate], others: Sequence[Certificate], trusted: Sequence[Certificate], now: datetime
) -> Sequence[Certificate] | None:
    """Return `path`, leaf first, continued with some of the others to a trusted authority; None if it cannot be."""
    last = path[-1]
    if not _is_current(last, now) or len(path) > _LONGEST_CHAIN or not _is_understood(last):
        return None
    for authority in trusted:
        if not _is_current(authority, now):
            continue
        if authority == last or (_may_issue(authority, path) and _issued(authority, last)):
            return [*path, authority]
    for issuer in others:
        if _may_issue(issuer, path) and _is_authority(issuer) and _issued(issuer, last):
            rest = [other for other in others if other is not issuer]
            way = _way_to_trust([*path, issuer], rest, trusted, now)
            if way is not None:
                return way
    return None


def _is_current(certificate: Certificate, now: datetime) -> bool:
    return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


def _issued(issuer: Certificate, certificate: Certificate) -> bool:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    try:
        hashed = certificate.signature_hash_algorithm
        if hashed is not None and hashed.name in _BROKEN_HASHES:
            return False
        certificate.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _extension(certificate: Certificate, kind: type[T]) -> T | None:
    """Return an extension's value, or None.

    Raises:
        ValueError: the extensions cannot be read.
    """
    from cryptography.x509 import ExtensionNotFound

    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except ExtensionNotFound:
        return None


def _may_issue(issuer: Certificate, path: Sequence[Certificate]) -> bool:
    """Whether a certificate may stand above a path: an authority, for clients, and not too far from the leaf."""
    from cryptography.x509 import BasicConstraints, KeyUsage, NameConstraints, SubjectAlternativeName, Version

    try:
        constraints, usage = _extension(issuer, BasicConstraints), _extension(issuer, KeyUsage)
        if constraints is None and issuer.version is Version.v3:
            return False
        if constraints is not None and (
            not constraints.ca or (constraints.path_length is not None and len(path) - 1 > constraints.path_length)
        ):
            return False
        if usage is not None and not usage.key_cert_sign:
            return False
        if _extension(issuer, NameConstraints) is not None and _extension(path[0], SubjectAlternativeName) is not None:
            return False  # the names of users are not among those that such constraints are about
    except ValueError:
        return False
    return _is_for_clients(issuer) and _is_understood(issuer)


def _is_understood(certificate: Certificate) -> bool:
    from cryptography.x509 import UnrecognizedExtension

    try:
        return not any(
            extension.critical and isinstance(extension.value, UnrecognizedExtension)
            for extension in certificate.extensions
        )
    except ValueError:
        return False


def _is_authority(certificate: Certificate) -> bool:
    from cryptography.x509 import BasicConstraints

    try:
        constraints = _extension(certificate, BasicConstraints)
    except ValueError:
        return False
    return constraints is not None and constraints.ca


def _is_for_clients(certificate: Certificate) -> bool:
    from cryptography.x509 import ExtendedKeyUsage
    from cryptography.x509.oid import ExtendedKeyUsageOID

    try:
        usages = _extension(certificate, ExtendedKeyUsage)
    except ValueError:
        return False
    if usages is None:
        return True
    return ExtendedKeyUsageOID.CLIENT_AUTH in usages or ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE in usages


Headers = Mapping[str, Sequence[str]]
"""The values of headers, one per line: a comma in one is part of a name."""


class FrontProxy:
    """A proxy that has authenticated users and names them in headers; it proves itself by a certificate of its own.

    Source: kubernetes apiserver ``pkg/authentication/request/headerrequest``.
    """

    def __init__(
        self,
        authority_file: str,
        *,
        allowed_names: Sequence[str] = (),
        username_headers: Sequence[str] = ("x-remote-user",),
        uid_headers: Sequence[str] = (),
        group_headers: Sequence[str] = ("x-remote-group",),
        extra_headers_prefix: Sequence[str] = ("x-remote-extra-",),
    ) -> None:
        """Take what ``--requestheader-*`` say; without names any certificate of the authority will do.

        Raises:
            UsageError: the file cannot be read, or holds no certificate.
        """
        self._authorities = CertificateAuthorities(authority_file)
        self._allowed = frozenset(allowed_names)
        self._names = _lower(username_headers)
        self._uids = _lower(uid_headers)
        self._groups = _lower(group_headers)
        self._prefixes = _lower(extra_headers_prefix)

    def user(self, chain: Sequence[bytes], headers: Headers, now: datetime) -> UserInfo | None:
        """Return whom a request's headers name, None where they name no user or there is no certificate.

        Raises:
            CertificateRefused: the certificate is not the proxy's.
        """
        name = _first(headers, self._names)
        if not name or not chain:
            return None
        self._verify(chain, now)
        groups = [group for header in self._groups for group in headers.get(header, ()) if group]
        if AUTHENTICATED_GROUP not in groups:
            groups.append(AUTHENTICATED_GROUP)
        return UserInfo(name, _first(headers, self._uids), tuple(groups), self._extra(headers))

    def _verify(self, chain: Sequence[bytes], now: datetime) -> None:
        noted = self._authorities.noted(chain, now)
        names = [noted.name] if noted is not None else _common_names(self._authorities.verify(chain, now))
        if self._allowed and not self._allowed.intersection(names):
            raise CertificateRefused("the common name is none of --requestheader-allowed-names")

    def _extra(self, headers: Headers) -> Mapping[str, tuple[str, ...]]:
        """Return the values of all headers with an extra prefix, by what follows it, percent-decoded."""
        found: dict[str, tuple[str, ...]] = {}
        for prefix in self._prefixes:
            for header, values in headers.items():
                if header.startswith(prefix):
                    key = unescape_extra_key(header[len(prefix) :])
                    found[key] = (*found.get(key, ()), *values)
        return found


def _common_names(certificate: Certificate) -> list[str]:
    from cryptography.x509.oid import NameOID

    return [str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]


def _first(headers: Headers, names: Sequence[str]) -> str:
    """Return the first line of the first header that is there and not empty."""
    return next((headers[name][0] for name in names if name in headers and headers[name][0]), "")


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
