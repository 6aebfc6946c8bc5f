"""Certificate signing requests, as the controllers that approve and sign them need to read them.

Source: kubernetes ``pkg/apis/certificates/helpers.go``, ``pkg/controller/certificates``.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as BadBase64
from typing import TYPE_CHECKING

from hyperkube.kinds.conditions import condition, is_true
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import NODE_PREFIX

if TYPE_CHECKING:
    from cryptography.x509 import CertificateSigningRequest, GeneralName

API_CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING = "kubernetes.io/kubelet-serving"
LEGACY_UNKNOWN = "kubernetes.io/legacy-unknown"

BACKOFF = Backoff(initial=0.2, cap=1000.0)
"""How long a request waits after a failure; source: ``pkg/controller/certificates/certificate_controller.go``."""

_NODES = ["system:nodes"]


class BadRequestContent(HyperkubeError, ValueError):
    """The request cannot be read, or is not one that its signer signs; the message says why."""


def parse(csr: Object) -> CertificateSigningRequest:
    """Return the PKCS #10 request in a CertificateSigningRequest.

    Raises:
        BadRequestContent: there is none.
    """
    from cryptography.x509 import load_pem_x509_csr

    try:
        return load_pem_x509_csr(b64decode((csr.get("spec") or {}).get("request") or ""))
    except (ValueError, BadBase64) as error:
        raise BadRequestContent("PEM block type must be CERTIFICATE REQUEST") from error


def common_name(request: CertificateSigningRequest) -> str:
    """Return the subject's common name, the user that a client certificate stands for."""
    from cryptography.x509.oid import NameOID

    return str(next((part.value for part in request.subject.get_attributes_for_oid(NameOID.COMMON_NAME)), ""))


def organizations(request: CertificateSigningRequest) -> list[str]:
    """Return the subject's organizations, the groups of a client certificate."""
    from cryptography.x509.oid import NameOID

    return [str(part.value) for part in request.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def alternative_names(request: CertificateSigningRequest) -> list[GeneralName]:
    """Return the subject's alternative names of the kinds that certificates take over: DNS, email, IP and URI."""
    from cryptography import x509

    try:
        names = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    kinds = (x509.DNSName, x509.RFC822Name, x509.IPAddress, x509.UniformResourceIdentifier)
    return [name for kind in kinds for name in names if isinstance(name, kind)]


def _kinds_of_names(request: CertificateSigningRequest) -> dict[str, bool]:
    """Return which kinds of alternative names the request has."""
    from cryptography import x509

    names = alternative_names(request)
    kinds: dict[str, type[x509.GeneralName]] = {
        "DNS": x509.DNSName,
        "Email": x509.RFC822Name,
        "IP": x509.IPAddress,
        "URI": x509.UniformResourceIdentifier,
    }
    return {kind: any(isinstance(name, wanted) for name in names) for kind, wanted in kinds.items()}


def check_kubelet_client(request: CertificateSigningRequest, usages: list[str]) -> None:
    """Check that a request is a kubelet's for its client certificate.

    Raises:
        BadRequestContent: it is not.
    """
    if organizations(request) != _NODES:
        raise BadRequestContent("subject organization is not system:nodes")
    for kind, present in _kinds_of_names(request).items():
        if present:
            raise BadRequestContent(f"{kind} subjectAltNames are not allowed")
    if not common_name(request).startswith(NODE_PREFIX):
        raise BadRequestContent("subject common name does not begin with system:node:")
    _check_usages(usages, "client auth")


def check_kubelet_serving(request: CertificateSigningRequest, usages: list[str]) -> None:
    """Check that a request is a kubelet's for its serving certificate.

    Raises:
        BadRequestContent: it is not.
    """
    if organizations(request) != _NODES:
        raise BadRequestContent("subject organization is not system:nodes")
    present = _kinds_of_names(request)
    if not present["DNS"] and not present["IP"]:
        raise BadRequestContent("DNS or IP subjectAltName is required")
    for kind in ("Email", "URI"):
        if present[kind]:
            raise BadRequestContent(f"{kind} subjectAltNames are not allowed")
    _check_usages(usages, "server auth")
    if not common_name(request).startswith(NODE_PREFIX):
        raise BadRequestContent("subject common name does not begin with system:node:")


def check_api_client(usages: list[str]) -> None:
    """Check that usages are those of a client certificate.

    Raises:
        BadRequestContent: they are not.
    """
    for usage in usages:
        if usage not in {"digital signature", "key encipherment", "client auth"}:
            raise BadRequestContent(f"invalid usage for client certificate: {usage}")
    if "client auth" not in usages:
        raise BadRequestContent("missing required usage for client certificate: client auth")


def _check_usages(usages: list[str], purpose: str) -> None:
    all_three = {"digital signature", "key encipherment", purpose}
    if set(usages) not in (all_three, all_three - {"key encipherment"}):
        raise BadRequestContent(f"usages did not match [{' '.join(sorted(all_three))}]")


def is_approved(csr: Object) -> bool:
    """Tell whether the request was approved and not denied."""
    status = csr.get("status") or {}
    return condition(status, "Approved") is not None and condition(status, "Denied") is None


def is_decided(csr: Object) -> bool:
    """Tell whether the request was approved or denied."""
    status = csr.get("status") or {}
    return condition(status, "Approved") is not None or condition(status, "Denied") is not None


def has_failed(csr: Object) -> bool:
    """Tell whether the signer has given the request up."""
    return is_true(csr.get("status") or {}, "Failed")


def certificate_of(csr: Object) -> bytes:
    """Return the issued certificate, PEM, or nothing."""
    return b64decode((csr.get("status") or {}).get("certificate") or "")
