"""Which certificates of a kubelet are renewed: flags ``--rotate-certificates`` and ``--rotate-server-certificates``.

Source: kubernetes ``pkg/kubelet/certificate/kubelet.go``, ``cmd/kubelet/app/server.go`` (buildKubeletClientConfig).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hyperkube_host.kubelet.certificate.bootstrap import CLIENT_PREFIX
from hyperkube_host.kubelet.certificate.certificate_manager import CertificateManager
from hyperkube_host.kubelet.certificate.csr import (
    CertificateStore,
    CertificateTemplate,
    client_template,
    serving_template,
)
from hyperkube_host.kubelet.options import KubeletOptions

from hyperkube.client import kubeconfig
from hyperkube.client.client import Client
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

SERVER_PREFIX = "kubelet-server"
_logger = logging.getLogger("hyperkube.kubelet")
Addresses = Callable[[], Sequence[Object]]


def managers(
    options: KubeletOptions, client: Client, addresses: Addresses, kubeconfig_file: str
) -> Iterator[CertificateManager]:
    """Yield what renews the certificates that flags say are to be; `addresses` are those of the node's status."""
    folder, node, clock = options.server.cert_dir, options.node.name, SystemClock()
    if options.server.rotates_client_certificate:
        store = CertificateStore(folder, CLIENT_PREFIX)
        if uses(kubeconfig_file, store.current):
            yield CertificateManager(client, lambda: client_template(node), store, clock)
        else:
            _logger.warning(
                "--rotate-certificates has no effect: the client certificate of --kubeconfig is not %s,"
                " where --bootstrap-kubeconfig puts it", store.current,
            )  # fmt: skip
    if options.server.rotates_server_certificate and not options.server.tls_cert_file:
        store = CertificateStore(folder, SERVER_PREFIX)
        yield CertificateManager(client, lambda: reached_at(node, addresses()), store, clock)


def reached_at(node: str, addresses: Sequence[Object]) -> CertificateTemplate:
    """Return what a kubelet serves with, given the addresses of its node."""
    names = {row["address"] for row in addresses if row.get("type") in {"Hostname", "InternalDNS", "ExternalDNS"}}
    ips = {row["address"] for row in addresses if row.get("type") in {"InternalIP", "ExternalIP"}}
    return serving_template(node, tuple(sorted(names)), tuple(sorted(ips)))


def uses(kubeconfig_file: str, pair: Path) -> bool:
    """Tell whether a kubeconfig takes its client certificate from that file."""
    try:
        named = kubeconfig.resolve(kubeconfig.read(kubeconfig_file)).user.get("client-certificate")
    except (UsageError, OSError):
        return False
    return named is not None and Path(named).absolute() == pair.absolute()


def first_serving_pair(folder: Path, certificate: str, key: str) -> str:
    """Return the file to serve with: the pair of an earlier run, else a copy of the self-signed one.

    Raises:
        UsageError: the folder cannot be written.
    """
    from hyperkube_lib.serving.certificates import write_private

    current = CertificateStore(folder, SERVER_PREFIX).current
    try:
        if not current.exists():
            current.unlink(missing_ok=True)  # a link to what is gone
            write_private(current, Path(certificate).read_bytes() + Path(key).read_bytes())
    except OSError as error:
        raise UsageError(f"cannot write {str(current)!r}: {error.strerror}") from error
    return str(current)
