"""How a node that has only a bootstrap token comes to a certificate of its own.

A key is made, a certificate for ``system:node:NAME`` is requested with the credentials of ``--bootstrap-kubeconfig``,
and once the request is approved and signed, ``--kubeconfig`` is written, which from then on counts alone. The key and
the name of the request stay the same over restarts, so that a kubelet that was ended while it waited goes on waiting.
Source: kubernetes ``pkg/kubelet/certificate/bootstrap/bootstrap.go``, client-go ``util/certificate/csr/csr.go``.
"""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hyperkube.client import kubeconfig
from hyperkube.client.client import Client
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, UsageError
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.users import NODE_PREFIX, NODES_GROUP

SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
USAGES = ("digital signature", "client auth")
WAIT_SECONDS = 3600.0
_KEY_FILE = "kubelet-client.key.tmp"
_CURRENT = "kubelet-client-current.pem"
_logger = logging.getLogger("hyperkube.kubelet")


class BootstrapFailed(UsageError):
    """The node gets no certificate: the request was denied, failed, or not answered in time."""


def is_still_valid(path: str, clock: Clock) -> bool:
    """Tell whether a kubeconfig is there whose client certificates can be used now."""
    try:
        user = kubeconfig.resolve(kubeconfig.read(path)).user
        data = user.get("client-certificate-data")
        pem = base64.b64decode(data) if data else Path(user.get("client-certificate") or "/none").read_bytes()
        certificates = x509.load_pem_x509_certificates(pem)
    except (UsageError, OSError, ValueError):
        return False
    now = clock.now()
    return all(now <= certificate.not_valid_after_utc for certificate in certificates)


def private_key(folder: Path) -> ec.EllipticCurvePrivateKey:
    """Return the key of a request that is under way, or make one and keep it."""
    from hyperkube_lib.serving.certificates import write_private

    path = folder / _KEY_FILE
    try:
        found = serialization.load_pem_private_key(path.read_bytes(), None)
        if isinstance(found, ec.EllipticCurvePrivateKey):
            return found
    except (OSError, ValueError):
        _logger.info("no valid private key found, making a new one in %s", path)
    key = ec.generate_private_key(ec.SECP256R1())
    write_private(path, _pem(key))
    return key


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def request_name(key: ec.EllipticCurvePrivateKey, node: str) -> str:
    """Return the name that this node's request with this key always has."""
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    parts = (public, f"{NODE_PREFIX}{node}".encode(), NODES_GROUP.encode(), *(usage.encode() for usage in USAGES))
    encoded = b"".join(_base64url(part) + b"|" for part in parts)
    return f"node-csr-{_base64url(hashlib.new('sha512_256', encoded).digest()).decode()}"


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def request_of(key: ec.EllipticCurvePrivateKey, node: str) -> Object:
    """Return the request for a node's client certificate."""
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, NODES_GROUP),
            x509.NameAttribute(NameOID.COMMON_NAME, f"{NODE_PREFIX}{node}"),
        ]
    )
    signed = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    pem = signed.public_bytes(serialization.Encoding.PEM)
    spec = {"request": base64.b64encode(pem).decode(), "signerName": SIGNER, "usages": list(USAGES)}
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": request_name(key, node)},
        "spec": spec,
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
    client: Client, key: ec.EllipticCurvePrivateKey, node: str, clock: Clock, pause: Callable[[], bool]
) -> bytes:
    """Ask for a certificate and wait until it is there; return it as PEM.

    `pause` waits between two looks, and tells whether the kubelet is to end.

    Raises:
        BootstrapFailed: it does not come.
    """
    wanted = request_of(key, node)
    name = str(wanted["metadata"]["name"])
    end = clock.monotonic() + WAIT_SECONDS
    uid = ""
    while clock.monotonic() < end:
        try:
            if not uid:
                uid = _submitted(client, wanted)
                _logger.info("waiting for the client certificate of request %s", name)
            found = client.get(CERTIFICATE_SIGNING_REQUESTS, name)
            if uid_of(found) != uid:
                raise BootstrapFailed(f"csr {name!r} changed UIDs")
            certificate = issued(found)
            if certificate is not None:
                return certificate
        except (ApiError, ConnectionError, TimeoutError) as error:
            _logger.warning("cannot request a client certificate yet: %s", error)
        if pause():
            break
    raise BootstrapFailed(f"csr {name!r} was not answered within an hour, or the kubelet was told to stop")


def _submitted(client: Client, wanted: Object) -> str:
    try:
        return str(uid_of(client.create(CERTIFICATE_SIGNING_REQUESTS, wanted)))
    except AlreadyExists:
        return str(uid_of(client.get(CERTIFICATE_SIGNING_REQUESTS, wanted["metadata"]["name"])))


def store_pair(folder: Path, certificate: bytes, key: ec.EllipticCurvePrivateKey, clock: Clock) -> Path:
    """Keep a certificate with its key, dated, and let the current one point to it; return where that is."""
    from hyperkube_lib.serving.certificates import write_private

    dated = folder / f"kubelet-client-{clock.now():%Y-%m-%d-%H-%M-%S}.pem"
    write_private(dated, certificate + _pem(key))
    current, fresh = folder / _CURRENT, folder / f"{_CURRENT}.new"
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(dated.name)
    fresh.replace(current)
    (folder / _KEY_FILE).unlink(missing_ok=True)
    return current


def bootstrap(
    *, kubeconfig_file: str, bootstrap_file: str, folder: str, node: str, clock: Clock, pause: Callable[[], bool]
) -> None:
    """See to it that the kubeconfig is there and good for the API server; do nothing if it is.

    Args:
        kubeconfig_file: what is written.
        bootstrap_file: a kubeconfig with credentials that may request a certificate.
        folder: where the key and the certificate are kept.
        node: the node's name.
        clock: for the waits.
        pause: waits between two looks at the request, about a second; tells whether the kubelet is to end.

    Raises:
        UsageError: a file cannot be used, or no certificate was given.
    """
    if not kubeconfig_file:
        raise UsageError("bootstrap-kubeconfig needs --kubeconfig, the file to write")
    if is_still_valid(kubeconfig_file, clock):
        return
    access = kubeconfig.resolve(kubeconfig.read(bootstrap_file))
    key = private_key(Path(folder))
    client = kubeconfig.client_for(access, clock=clock, user_agent=f"kubelet ({node})")
    try:
        certificate = request_certificate(client, key, node, clock, pause)
    finally:
        client.close()
    pair = str(store_pair(Path(folder), certificate, key, clock).absolute())
    config = kubeconfig.put(kubeconfig.empty(), "clusters", "default-cluster", access.cluster)
    config = kubeconfig.put(config, "users", "default-auth", {"client-certificate": pair, "client-key": pair})
    context = {"cluster": "default-cluster", "user": "default-auth", "namespace": "default"}
    config = kubeconfig.put(config, "contexts", "default-context", context)
    kubeconfig.write(kubeconfig_file, {**config, "current-context": "default-context"})
