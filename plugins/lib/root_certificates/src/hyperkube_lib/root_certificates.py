"""The authority that the API server's certificate is signed by, as two controllers publish it.

That is the file that ``--root-ca-file`` names, or else the authority that the controller manager itself knows the API
server by: that of its kubeconfig, none where it speaks plain HTTP.
Source: kubernetes ``cmd/kube-controller-manager/app/certificates.go`` (getKubeAPIServerCAFileContents).
"""

from __future__ import annotations

import base64
from pathlib import Path

from hyperkube.client.kubeconfig import read, resolve
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class RootCertificateSettings:
    """The file with the CA, and how the controller manager reaches the API server; all empty within one process."""

    root_ca_file: str = ""
    kubeconfig: str = ""
    master: str = ""


def root_certificate(settings: RootCertificateSettings) -> str | None:
    """Return what is to be published; None where the API server is reached without a connection.

    Raises:
        UsageError: a file cannot be read.
    """
    if settings.root_ca_file:
        return _text("--root-ca-file", settings.root_ca_file)
    if not settings.kubeconfig:
        return "" if settings.master else None
    cluster = resolve(read(settings.kubeconfig)).cluster
    if cluster.get("certificate-authority-data"):
        return base64.b64decode(cluster["certificate-authority-data"]).decode()
    file = cluster.get("certificate-authority", "")
    return _text(f"certificate-authority of {settings.kubeconfig!r}", file) if file else ""


def _text(source: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{source}: cannot read {file!r}: {error}") from error
