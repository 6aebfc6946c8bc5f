"""csrsigning: approved requests get their certificate from the cluster's authority.

There is one authority per signer: ``--cluster-signing-cert-file`` and ``-key-file`` for all four, or
``--cluster-signing-kubelet-serving-cert-file`` and so on for each. A signer without an authority signs nothing.
Source: kubernetes ``pkg/controller/certificates/signer/signer.go`` and ``authority/policies.go``.
"""

from __future__ import annotations

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
_KEY_USAGES = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "key agreement": "key_agreement",
    "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign",
    "crl sign": "crl_sign",
    "encipher only": "encipher_only",
    "decipher only": "decipher_only",
}
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
        authority = x509.load_pem_x509_certificate(Path(self.cert_file).read_bytes())
        key = load_pem_private_key(Path(self.key_file).read_bytes(), None)
        begin = now if life < SHORT else now - BACKDATE
        end = min(begin + life, authority.not_valid_after_utc)
        if end <= now:
            raise ValueError("refusing to sign a certificate that expired in the past")
        builder = (
            x509.CertificateBuilder()
            .subject_name(request.subject)
            .issuer_name(authority.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        )
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())  # type: ignore[arg-type]  # an authority's key signs
        for extension, critical in [*_extensions(request, usages), (identifier, False)]:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)  # type: ignore[arg-type]  # an authority's key signs


def _extensions(request: x509.CertificateSigningRequest, usages: list[str]) -> list[tuple[x509.ExtensionType, bool]]:
    """Return (extension, critical) for usages and alternative names."""
    from cryptography import x509

    made: list[tuple[x509.ExtensionType, bool]] = []
    wanted = {_KEY_USAGES[usage] for usage in usages if usage in _KEY_USAGES}
    if wanted:
        made.append((x509.KeyUsage(**{name: name in wanted for name in {*_KEY_USAGES.values()}}), True))
    purposes = [x509.ObjectIdentifier(_PURPOSES[usage]) for usage in usages if usage in _PURPOSES]
    if purposes:
        made.append((x509.ExtendedKeyUsage(purposes), False))
    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        made.append((names.value, names.critical))
    except x509.ExtensionNotFound:
        return made
    return made


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
    return Authority(cert, key) if cert else None


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
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        if self._authorities:
            self._requests = self.informers.informer(CERTIFICATE_SIGNING_REQUESTS)
            self._requests.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, name: str) -> None:
        csr = self._requests.get("", name)
        if csr is not None:
            perform(self.client, None, decide(csr, self._authorities, self._longest, self.context.clock.now()))
