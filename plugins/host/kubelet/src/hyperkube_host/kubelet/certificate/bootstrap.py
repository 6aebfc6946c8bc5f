"""How a node that has only a bootstrap token comes to a certificate of its own.

A key is made, a certificate for ``system:node:NAME`` is requested with the credentials of ``--bootstrap-kubeconfig``,
and once the request is approved and signed, ``--kubeconfig`` is written, which from then on counts alone. The key and
the name of the request stay the same over restarts, so that a kubelet that was ended while it waited goes on waiting.
Source: kubernetes ``pkg/kubelet/certificate/bootstrap/bootstrap.go``, client-go ``util/certificate/csr/csr.go``.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hyperkube_host.kubelet.certificate.csr import (
    CertificateStore,
    client_template,
    key_pem,
    new_key,
    request_certificate,
    request_name,
    request_of,
)

from hyperkube.client import kubeconfig
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

WAIT_SECONDS = 3600.0
CLIENT_PREFIX = "kubelet-client"
_KEY_FILE = "kubelet-client.key.tmp"
_logger = logging.getLogger("hyperkube.kubelet")


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
    key = new_key()
    write_private(path, key_pem(key))
    return key


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
    template = client_template(node)
    wanted = request_of(key, template, request_name(key, template))
    try:
        certificate = request_certificate(client, wanted, clock, pause, WAIT_SECONDS)
    finally:
        client.close()
    pair = str(CertificateStore(Path(folder), CLIENT_PREFIX).store(certificate, key, clock).absolute())
    (Path(folder) / _KEY_FILE).unlink(missing_ok=True)
    config = kubeconfig.put(kubeconfig.empty(), "clusters", "default-cluster", access.cluster)
    config = kubeconfig.put(config, "users", "default-auth", {"client-certificate": pair, "client-key": pair})
    context = {"cluster": "default-cluster", "user": "default-auth", "namespace": "default"}
    config = kubeconfig.put(config, "contexts", "default-context", context)
    kubeconfig.write(kubeconfig_file, {**config, "current-context": "default-context"})
