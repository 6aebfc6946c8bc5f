"""Requests for a node's certificates: what is asked for, and waiting until it is issued.

Source: client-go ``util/certificate/csr/csr.go``; kubernetes ``pkg/kubelet/certificate/kubelet.go`` (the templates).
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import logging
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, UsageError
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import NODE_PREFIX, NODES_GROUP

_logger = logging.getLogger("hyperkube.kubelet")


class BootstrapFailed(UsageError):
    """The node gets no certificate: the request was denied, failed, or not answered in time."""


class CertificateTemplate(Record):
    """What a node asks to have certified: itself, and for a server where it is reached."""

    signer: str
    usages: tuple[str, ...]
    node: str
    dns: tuple[str, ...] = ()
    ips: tuple[str, ...] = ()


def client_template(node: str) -> CertificateTemplate:
    """Return what a node shows to the API server."""
    usages = ("digital signature", "client auth")
    return CertificateTemplate(signer="kubernetes.io/kube-apiserver-client-kubelet", usages=usages, node=node)


def serving_template(node: str, dns: tuple[str, ...], ips: tuple[str, ...]) -> CertificateTemplate:
    """Return what a kubelet shows to those who ask it."""
    usages = ("digital signature", "server auth")
    return CertificateTemplate(signer="kubernetes.io/kubelet-serving", usages=usages, node=node, dns=dns, ips=ips)


def new_key() -> ec.EllipticCurvePrivateKey:
    """Make a key."""
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a key as PEM."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def request_name(key: ec.EllipticCurvePrivateKey, template: CertificateTemplate) -> str:
    """Return the name that a node's first request with this key always has."""
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    usages = (usage.encode() for usage in template.usages)
    parts = (public, f"{NODE_PREFIX}{template.node}".encode(), NODES_GROUP.encode(), *usages)
    encoded = b"".join(_base64url(part) + b"|" for part in parts)
    return f"node-csr-{_base64url(hashlib.new('sha512_256', encoded).digest()).decode()}"


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def request_of(key: ec.EllipticCurvePrivateKey, template: CertificateTemplate, name: str = "") -> Object:
    """Return the request for a certificate, of that name or of one that the API server makes up."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, NODES_GROUP),
            x509.NameAttribute(NameOID.COMMON_NAME, f"{NODE_PREFIX}{template.node}"),
        ]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    names = [
        *(x509.DNSName(name) for name in template.dns),
        *(x509.IPAddress(ipaddress.ip_address(ip)) for ip in template.ips),
    ]
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    pem = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name} if name else {"generateName": "csr-"},
        "spec": {
            "request": base64.b64encode(pem).decode(),
            "signerName": template.signer,
            "usages": list(template.usages),
        },
    }


def issued(request: Object) -> bytes | None:
    """Return the certificate that a request has got, or None while it waits.

    Raises:
        BootstrapFailed: it was denied, or failed.
    """
    status = request.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") in {"Denied", "Failed"}:
            what = "is denied" if condition["type"] == "Denied" else "failed"
            reason, message = condition.get("reason", ""), condition.get("message", "")
            raise BootstrapFailed(f"certificate signing request {what}, reason: {reason}, message: {message}")
    return base64.b64decode(status["certificate"]) if status.get("certificate") else None


def request_certificate(
    client: Client, wanted: Object, clock: Clock, pause: Callable[[], bool], wait_seconds: float
) -> bytes:
    """Ask for a certificate and wait until it is there; return it as PEM.

    `pause` waits between two looks, and tells whether the kubelet is to end.

    Raises:
        BootstrapFailed: it does not come.
    """
    end = clock.monotonic() + wait_seconds
    name = uid = ""
    while clock.monotonic() < end:
        try:
            if not uid:
                name, uid = _submitted(client, wanted)
                _logger.info("waiting for the certificate of request %s", name)
            found = client.get(CERTIFICATE_SIGNING_REQUESTS, name)
            if uid_of(found) != uid:
                raise BootstrapFailed(f"csr {name!r} changed UIDs")
            certificate = issued(found)
            if certificate is not None:
                return certificate
        except (ApiError, ConnectionError, TimeoutError) as error:
            _logger.warning("cannot request a certificate yet: %s", error)
        if pause():
            break
    waited = f"{wait_seconds / 3600:g} h" if wait_seconds >= 3600 else f"{wait_seconds / 60:g} min"
    raise BootstrapFailed(f"csr {name!r} was not answered within {waited}, or the kubelet was told to stop")


def _submitted(client: Client, wanted: Object) -> tuple[str, str]:
    try:
        made = client.create(CERTIFICATE_SIGNING_REQUESTS, wanted)
    except AlreadyExists:
        made = client.get(CERTIFICATE_SIGNING_REQUESTS, wanted["metadata"]["name"])
    return str(made["metadata"]["name"]), str(uid_of(made))


class CertificateStore:
    """Pairs of certificate and key in a folder, dated, and a link to the current one.

    Source: client-go ``util/certificate/certificate_store.go``.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        """Keep files named ``PREFIX-…`` in the folder."""
        self._folder, self._prefix = folder, prefix

    @property
    def current(self) -> Path:
        """Where certificate and key are, one after the other."""
        return self._folder / f"{self._prefix}-current.pem"

    def store(self, certificate: bytes, key: ec.EllipticCurvePrivateKey, clock: Clock) -> Path:
        """Keep a pair and let the current one point to it; return where that is."""
        from hyperkube_lib.serving.certificates import write_private

        dated = self._folder / f"{self._prefix}-{clock.now():%Y-%m-%d-%H-%M-%S}.pem"
        write_private(dated, certificate + key_pem(key))
        fresh = self.current.with_name(f"{self.current.name}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(dated.name)
        fresh.replace(self.current)
        return self.current

    def is_issued(self) -> bool:
        """Tell whether the current pair was stored here; else it is what the kubelet has signed itself, for a start."""
        return self.current.is_symlink()

    def certificate(self) -> x509.Certificate | None:
        """Return the current certificate, None if there is none that can be read."""
        try:
            return x509.load_pem_x509_certificate(self.current.read_bytes())
        except (OSError, ValueError):
            return None
