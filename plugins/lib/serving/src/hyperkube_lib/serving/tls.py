"""The TLS side of a server: which files it shows, whom it believes, and how it notices new ones.

Client certificates are asked for whenever a client CA is configured, and never required: a bearer token is as good.
Whether an offered one proves anything, and whom it names, is the authenticators' affair; the handshake goes on either
way (see `hyperkube_lib.serving.requested_certificates`, also for where it cannot).
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperkube_lib.serving.requested_certificates import request_certificates

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

HTTP_1_1 = "http/1.1"
"""Its name in the handshake (ALPN, RFC 7301)."""

_VERSIONS = {
    "VersionTLS10": ssl.TLSVersion.TLSv1,
    "VersionTLS11": ssl.TLSVersion.TLSv1_1,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}


class SniCertificate(Record):
    """A certificate for clients that ask for certain names; ``*.example.org`` covers one label."""

    cert_file: str
    key_file: str
    names: tuple[str, ...]


class TlsFiles(Record):
    """What a TLS listener reads.

    Attributes:
        client_ca_file: PEM bundle that client certificates must lead to; empty: none are asked for.
        request_header_ca_file: the same for front proxies.
        min_version: as in ``--tls-min-version``, e.g. ``VersionTLS12``.
        ciphers: OpenSSL cipher string for TLS 1.2 and below; empty: OpenSSL's own.
    """

    cert_file: str
    key_file: str
    client_ca_file: str = ""
    request_header_ca_file: str = ""
    sni: tuple[SniCertificate, ...] = ()
    min_version: str = "VersionTLS12"
    ciphers: str = ""

    def paths(self) -> tuple[str, ...]:
        """Return all files, in a fixed order."""
        names = [self.cert_file, self.key_file, self.client_ca_file, self.request_header_ca_file]
        for extra in self.sni:
            names += [extra.cert_file, extra.key_file]
        return tuple(name for name in names if name)


class ServerTls:
    """A server's SSL context, which can take up changed files without dropping a connection."""

    def __init__(self, files: TlsFiles, protocols: Sequence[str] = (HTTP_1_1,)) -> None:
        """Read the files.

        Args:
            files: which.
            protocols: that are spoken behind the handshake (ALPN), the preferred one first.

        Raises:
            UsageError: a file is missing or not what it should be, or the version is unknown.
        """
        self._files = files
        self._protocols = list(protocols)
        self._stamp = self._read_stamp()
        self._inner = self._build(files.cert_file, files.key_file)
        self._extra = self._build_extra()
        self.context = self._inner
        """The context to listen with; it looks up the current one for each handshake."""
        self.context.sni_callback = self._choose

    def reload(self) -> bool:
        """Take up the files if one has changed; tell whether one had.

        Raises:
            UsageError: the new files cannot be used; the old ones stay.
        """
        stamp = self._read_stamp()
        if stamp == self._stamp:
            return False
        inner, extra = self._build(self._files.cert_file, self._files.key_file), self._build_extra()
        self._inner, self._extra, self._stamp = inner, extra, stamp
        return True

    def _read_stamp(self) -> tuple[tuple[int, int], ...]:
        stamps = []
        for path in self._files.paths():
            try:
                status = os.stat(path)  # noqa: PTH116  one call, two facts
            except OSError as error:
                raise UsageError(f"cannot read {path!r}: {error.strerror}") from error
            stamps.append((status.st_mtime_ns, status.st_ino))
        return tuple(stamps)

    def _build(self, cert_file: str, key_file: str) -> ssl.SSLContext:
        files = self._files
        minimum = _VERSIONS.get(files.min_version)
        if minimum is None:
            raise UsageError(f"unknown TLS version {files.min_version!r} (known: {', '.join(_VERSIONS)})")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = minimum
        context.set_alpn_protocols(self._protocols)
        path = cert_file
        try:
            if files.ciphers:
                context.set_ciphers(files.ciphers)
            context.load_cert_chain(cert_file, key_file)
            for path in (files.client_ca_file, files.request_header_ca_file):
                if path:
                    context.load_verify_locations(path)
                    context.verify_mode = ssl.CERT_OPTIONAL
            if context.verify_mode is ssl.CERT_OPTIONAL:
                request_certificates(context)
        except (OSError, ssl.SSLError) as error:
            raise UsageError(f"cannot use the TLS files beginning with {path!r}: {error}") from error
        return context

    def _build_extra(self) -> list[tuple[tuple[str, ...], ssl.SSLContext]]:
        return [(extra.names, self._build(extra.cert_file, extra.key_file)) for extra in self._files.sni]

    def _choose(self, connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        chosen = self._inner
        for names, context in self._extra:
            if name and any(_covers(pattern, name.lower()) for pattern in names):
                chosen = context
                break
        if chosen is not connection.context:
            connection.context = chosen


def _covers(pattern: str, name: str) -> bool:
    if pattern.startswith("*."):
        return name.partition(".")[2] == pattern[2:].lower()
    return pattern.lower() == name


def client_context(
    ca_file: str = "", certificate_file: str = "", key_file: str = "", *, ca_data: str = ""
) -> ssl.SSLContext:
    """Return a context for connecting to another server; without a CA its certificate is not checked.

    Raises:
        UsageError: a file cannot be used.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols([HTTP_1_1])
    try:
        if ca_file or ca_data:
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Go: what is trusted need be no authority
            context.load_verify_locations(ca_file or None, cadata=ca_data or None)
        else:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate_file:
            context.load_cert_chain(certificate_file, key_file or certificate_file)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"cannot use the client's TLS files: {error}") from error
    return context


def peer_chain(connection: Any) -> tuple[bytes, ...]:
    """Return the DER certificates the peer offered, leaf first; none for a plain connection or an anonymous peer."""
    if connection is None:
        return ()
    leaf = connection.getpeercert(True)
    if not leaf:
        return ()
    public = getattr(connection, "get_unverified_chain", None)  # Python 3.13
    if public is not None:
        return tuple(public())
    inner = getattr(connection, "_sslobj", None)
    chain: Sequence[Any] = inner.get_unverified_chain() if inner is not None else ()
    return tuple(_der(certificate) for certificate in chain) or (leaf,)


def _der(certificate: Any) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate.public_bytes())


def named_certificates(values: Sequence[str]) -> tuple[SniCertificate, ...]:
    """Read values of ``--tls-sni-cert-key``: ``cert,key`` or ``cert,key:name,*.name``.

    Without names the certificate's own count. The last value comes first, as in Kubernetes: it wins.

    Raises:
        UsageError: a value is not like that, or its certificate cannot be read.
    """
    return tuple(_named(value) for value in reversed(values))


def _named(value: str) -> SniCertificate:
    files, _, names = value.partition(":")
    cert_file, _, key_file = files.partition(",")
    if not cert_file or not key_file or "," in key_file:
        raise UsageError(f"--tls-sni-cert-key={value!r} is not cert,key or cert,key:names")
    found = tuple(name.strip() for name in names.split(",") if name.strip()) or names_in(cert_file)
    return SniCertificate(cert_file=cert_file, key_file=key_file, names=found)


def names_in(cert_file: str) -> tuple[str, ...]:
    """Return the host names of a certificate: its common name and its alternative names.

    Raises:
        UsageError: it cannot be read.
    """
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificate(Path(cert_file).read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {cert_file!r}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{cert_file!r} is no certificate: {error}") from error
    common = [str(one.value) for one in certificate.subject.get_attributes_for_oid(x509.oid.NameOID.COMMON_NAME)]
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return tuple(common)
    return tuple(dict.fromkeys([*common, *extension.value.get_values_for_type(x509.DNSName)]))


_TLS13 = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})


def openssl_ciphers(names: Sequence[str]) -> str:
    """Return OpenSSL's cipher string for suites by their IANA names; empty for none.

    The suites of TLS 1.3 may be named, but are always on, as in Go.

    Raises:
        UsageError: a suite is not known.
    """
    if not names:
        return ""
    known = {each["name"] for each in ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).get_ciphers()}
    found = []
    for name in names:
        if name in _TLS13:
            continue
        wanted = _openssl_name(name)
        if wanted not in known:
            raise UsageError(f"Cipher suite {name} not supported or doesn't exist")
        found.append(wanted)
    return ":".join(found)


def _openssl_name(name: str) -> str:
    """Return ``ECDHE-RSA-AES128-GCM-SHA256`` for ``TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256``."""
    exchange, _, cipher = name.removeprefix("TLS_").partition("_WITH_")
    for long, short in (("AES_", "AES"), ("_CBC_", "_"), ("POLY1305_SHA256", "POLY1305")):
        cipher = cipher.replace(long, short)
    words = [*([] if exchange == "RSA" else [exchange]), cipher]
    return "-".join(words).replace("_", "-")
