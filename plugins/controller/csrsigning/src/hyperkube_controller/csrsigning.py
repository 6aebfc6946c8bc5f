"""csrsigning: approved requests get their certificate from the cluster's authority.

There is one authority per signer: ``--cluster-signing-cert-file`` and ``-key-file`` for all four, or
``--cluster-signing-kubelet-serving-cert-file`` and so on for each. A signer without an authority signs nothing.
Source: kubernetes ``pkg/controller/certificates/signer/signer.go`` and ``authority/policies.go``.
"""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_lib import certificate_requests as requests

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_time
from hyperkube.plugin import Plugin
from hyperkube.plugin.flags import setting_of

if TYPE_CHECKING:
    from cryptography import x509

SIGNERS = {
    requests.KUBELET_SERVING: "kubelet-serving",
    requests.KUBELET_CLIENT: "kubelet-client",
    requests.API_CLIENT: "kube-apiserver-client",
    requests.LEGACY_UNKNOWN: "legacy-unknown",
}
"""Signer → its part in the names of the flags for it."""

DEFAULT_SECONDS = 365 * 24 * 3600.0
SHORTEST = timedelta(minutes=10)
BACKDATE = timedelta(minutes=5)
SHORT = timedelta(hours=8)
_BEGIN = b"-----BEGIN CERTIFICATE-----"
_KEY_USAGES = {
    "signing": 0,
    "digital signature": 0,
    "content commitment": 1,
    "key encipherment": 2,
    "key agreement": 4,
    "data encipherment": 3,
    "cert sign": 5,
    "crl sign": 6,
    "encipher only": 7,
    "decipher only": 8,
}
"""Usage → its bit in the extension keyUsage (RFC 5280, 4.2.1.3)."""
_PURPOSES = {
    "any": "2.5.29.37.0",
    "server auth": "1.3.6.1.5.5.7.3.1",
    "client auth": "1.3.6.1.5.5.7.3.2",
    "code signing": "1.3.6.1.5.5.7.3.3",
    "email protection": "1.3.6.1.5.5.7.3.4",
    "s/mime": "1.3.6.1.5.5.7.3.4",
    "ipsec end system": "1.3.6.1.5.5.7.3.5",
    "ipsec tunnel": "1.3.6.1.5.5.7.3.6",
    "ipsec user": "1.3.6.1.5.5.7.3.7",
    "timestamping": "1.3.6.1.5.5.7.3.8",
    "ocsp signing": "1.3.6.1.5.5.7.3.9",
    "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
    "netscape sgc": "2.16.840.1.113730.4.1",
}
"""Usage → its object identifier in extKeyUsage, in the order in which a certificate lists them."""


@dataclass(frozen=True, slots=True)
class Authority:
    """The files of an authority; read at each use, so that a renewed one is taken."""

    cert_file: str
    key_file: str

    def sign(self, request: x509.CertificateSigningRequest, usages: list[str], life: timedelta, now: datetime) -> bytes:
        """Return the certificate, PEM, with the subject and the names of the request.

        Raises:
            BadRequestContent: the request is not signed with its own key.
            OSError: a file cannot be read.
            ValueError: a file does not hold what it should, or the authority has expired.
        """
        from cryptography import x509
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

        if not request.is_signature_valid:
            raise requests.BadRequestContent("unable to verify certificate request signature")
        certificate = self._certificate()
        key = load_pem_private_key(Path(self.key_file).read_bytes(), None)
        begin, end = validity(life, certificate.not_valid_after_utc, now)
        builder = (
            x509.CertificateBuilder()
            .subject_name(request.subject)
            .issuer_name(certificate.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        )
        for extension, critical in [*_extensions(request, usages), *_key_identifiers(certificate, request.subject)]:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)  # type: ignore[arg-type]  # an authority's key signs

    def check(self) -> None:
        """Read both files, as signing would; where OpenSSL can use them as a pair, without the library that signs.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file does not hold what it should.
        """
        if self._is_pair():
            return
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        self._certificate()
        try:
            load_pem_private_key(Path(self.key_file).read_bytes(), None)
        except (TypeError, ValueError) as error:  # TypeError: it is encrypted
            raise ValueError(f"error reading CA key file {self.key_file!r}: {error}") from error

    def _is_pair(self) -> bool:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.cert_file, self.key_file, password="")
            return Path(self.cert_file).read_bytes().count(_BEGIN) == 1
        except (OSError, ssl.SSLError):
            return False

    def _certificate(self) -> x509.Certificate:
        from cryptography import x509

        found = x509.load_pem_x509_certificates(Path(self.cert_file).read_bytes())
        if len(found) != 1:
            raise ValueError(
                f"error reading CA cert file {self.cert_file!r}: expected 1 certificate, found {len(found)}"
            )
        return found[0]


def validity(life: timedelta, signer_end: datetime, now: datetime) -> tuple[datetime, datetime]:
    """Return from when until when a certificate is good: from five minutes ago, for clocks that are behind.

    A short-lived one does not lose these five minutes at its end. None outlives its signer.
    Source: kubernetes ``pkg/controller/certificates/authority/policies.go``.

    Raises:
        ValueError: the signer's own certificate has expired.
    """
    begin = now - BACKDATE
    if begin >= signer_end:
        raise ValueError(f"the signer has expired: NotAfter={signer_end}")
    if now >= signer_end:
        raise ValueError(f"refusing to sign a certificate that expired in the past: NotAfter={signer_end}")
    return begin, min((now if life < SHORT else begin) + life, signer_end)


def key_usages(usages: list[str]) -> tuple[bytes, list[str]]:
    """Return the key usages as a DER bit string, nothing if there are none, and the extended ones, each once, in order.

    The bit string is written here because a request may ask for "encipher only" without "key agreement".

    Raises:
        ValueError: a usage is not known.
    """
    unknown = [usage for usage in usages if usage not in _KEY_USAGES and usage not in _PURPOSES]
    if unknown:
        quoted = " ".join(f'"{usage}"' for usage in unknown)
        raise ValueError(f"unrecognized usage values: [{quoted}]")
    wanted = {_PURPOSES[usage] for usage in usages if usage in _PURPOSES}
    purposes = [purpose for purpose in dict.fromkeys(_PURPOSES.values()) if purpose in wanted]
    bits = {_KEY_USAGES[usage] for usage in usages if usage in _KEY_USAGES}
    if not bits:
        return b"", purposes
    octets = bytearray(max(bits) // 8 + 1)
    for bit in bits:
        octets[bit // 8] |= 0x80 >> bit % 8
    return bytes([3, len(octets) + 1, 7 - max(bits) % 8, *octets]), purposes


def _extensions(request: x509.CertificateSigningRequest, usages: list[str]) -> list[tuple[x509.ExtensionType, bool]]:
    """Return (extension, critical) for usages and alternative names."""
    from cryptography import x509
    from cryptography.x509.oid import ExtensionOID

    made: list[tuple[x509.ExtensionType, bool]] = []
    bits, purposes = key_usages(usages)
    if bits:
        made.append((x509.UnrecognizedExtension(ExtensionOID.KEY_USAGE, bits), True))
    if purposes:
        made.append((x509.ExtendedKeyUsage(map(x509.ObjectIdentifier, purposes)), False))
    if names := requests.alternative_names(request):
        made.append((x509.SubjectAlternativeName(names), not list(request.subject)))
    return made


def _key_identifiers(authority: x509.Certificate, subject: x509.Name) -> list[tuple[x509.ExtensionType, bool]]:
    """Return the authority's key identifier as the authority itself has it: it need not be a SHA-1 of the key."""
    from cryptography import x509

    try:
        own = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        return []
    return [] if subject == authority.subject else [(x509.AuthorityKeyIdentifier(own.digest, None, None), False)]


def life(csr: Object, longest: timedelta) -> timedelta:
    """Return how long a certificate is to live: as asked, but not longer than ours and not shorter than ten minutes."""
    asked = (csr.get("spec") or {}).get("expirationSeconds")
    if asked is None:
        return longest
    return min(max(timedelta(seconds=asked), SHORTEST), longest)


def decide(csr: Object, authorities: Mapping[str, Authority], longest: timedelta, now: datetime) -> list[Action]:
    """Return the signed certificate's update, or that of a failure.

    Raises:
        OSError: the authority cannot be read.
        ValueError: the request, or the authority, cannot be used.
    """
    spec, status = csr.get("spec") or {}, csr.get("status") or {}
    authority = authorities.get(spec.get("signerName", ""))
    if authority is None or status.get("certificate") or not requests.is_approved(csr) or requests.has_failed(csr):
        return []
    usages = list(spec.get("usages") or [])
    request = requests.parse(csr)
    try:
        _check(spec["signerName"], request, usages)
    except requests.BadRequestContent as error:
        said = {"type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": str(error)}
        conditions = with_condition(status.get("conditions") or [], {**said, "lastUpdateTime": format_time(now)}, now)
        return [Update(CERTIFICATE_SIGNING_REQUESTS, {**csr, "status": {**status, "conditions": conditions}}, "status")]
    certificate = b64encode(authority.sign(request, usages, life(csr, longest), now)).decode()
    return [Update(CERTIFICATE_SIGNING_REQUESTS, {**csr, "status": {**status, "certificate": certificate}}, "status")]


def _check(signer: str, request: x509.CertificateSigningRequest, usages: list[str]) -> None:
    if signer == requests.KUBELET_SERVING:
        requests.check_kubelet_serving(request, usages)
    elif signer == requests.KUBELET_CLIENT:
        requests.check_kubelet_client(request, usages)
    elif signer == requests.API_CLIENT:
        requests.check_api_client(usages)


class Settings(Record):
    """The files of the authorities, of all signers or of single ones; and how many seconds certificates may live."""

    cluster_signing_cert_file: str = ""
    cluster_signing_key_file: str = ""
    cluster_signing_kubelet_serving_cert_file: str = ""
    cluster_signing_kubelet_serving_key_file: str = ""
    cluster_signing_kubelet_client_cert_file: str = ""
    cluster_signing_kubelet_client_key_file: str = ""
    cluster_signing_kube_apiserver_client_cert_file: str = ""
    cluster_signing_kube_apiserver_client_key_file: str = ""
    cluster_signing_legacy_unknown_cert_file: str = ""
    cluster_signing_legacy_unknown_key_file: str = ""
    cluster_signing_duration: float = DEFAULT_SECONDS


def authorities_of(settings: Settings) -> dict[str, Authority]:
    """Return the authority of each signer that has one.

    Raises:
        UsageError: only one of two files is given, or general and special ones are mixed.
    """
    general = _pair(settings, "cluster-signing")
    special = {signer: _pair(settings, f"cluster-signing-{part}") for signer, part in SIGNERS.items()}
    if general and any(special.values()):
        raise UsageError("cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags")
    found = {signer: pair or general for signer, pair in special.items()}
    return {signer: pair for signer, pair in found.items() if pair is not None}


def _pair(settings: Settings, prefix: str) -> Authority | None:
    cert, key = (getattr(settings, setting_of(f"{prefix}-{part}-file")) for part in ("cert", "key"))
    if bool(cert) != bool(key):
        given, missing = ("cert", "key") if cert else ("key", "cert")
        raise UsageError(f"--{prefix}-{given}-file needs --{prefix}-{missing}-file")
    for path in filter(None, (cert, key)):
        if not Path(path).is_file():
            raise UsageError(f"--{prefix}-{{cert,key}}-file: cannot read {path!r}")
    if not cert:
        return None
    authority = Authority(cert, key)
    try:
        authority.check()
    except (OSError, ValueError) as error:
        raise UsageError(f"--{prefix}-{{cert,key}}-file: {error}") from error
    return authority


class Csrsigning(Plugin):
    """Signs approved requests, for the signers that have an authority."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            UsageError: the files of an authority are incomplete or cannot be read.
        """
        settings = self.settings(Settings)
        self._authorities = authorities_of(settings)
        self._longest = timedelta(seconds=settings.cluster_signing_duration)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            backoff=requests.BACKOFF,
        )
        if self._authorities:
            self._requests = self.informers.informer(CERTIFICATE_SIGNING_REQUESTS)
            self._requests.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, name: str) -> None:
        csr = self._requests.get("", name)
        if csr is not None:
            perform(self.client, None, decide(csr, self._authorities, self._longest, self.context.clock.now()))
