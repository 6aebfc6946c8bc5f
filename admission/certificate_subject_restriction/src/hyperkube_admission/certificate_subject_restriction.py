"""CertificateSubjectRestriction: no signing request makes its author a member of ``system:masters``.

Source: kubernetes ``plugin/pkg/admission/certificates/subjectrestriction``.
"""

from __future__ import annotations

from base64 import b64decode

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.users import PRIVILEGED_GROUP
from hyperkube.plugin import Plugin

_SIGNER = "kubernetes.io/kube-apiserver-client"


def organizations(encoded: str) -> list[str]:
    """Return the organizations in the subject of a base64-encoded PEM signing request.

    Raises:
        ValueError: it is none.
    """
    from cryptography.x509 import load_pem_x509_csr
    from cryptography.x509.oid import NameOID

    subject = load_pem_x509_csr(b64decode(encoded)).subject
    return [str(name.value) for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


class CertificateSubjectRestriction(Plugin):
    """Refuses requests for client certificates of the privileged group."""

    may_block = False
    handles = frozenset({"certificatesigningrequests"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Look at the subject of requests to the client signer."""
        if not request.creates("certificatesigningrequests", "certificates.k8s.io"):
            return
        spec = request.written().get("spec") or {}
        if spec.get("signerName") != _SIGNER:
            return
        try:
            groups = organizations(spec.get("request") or "")
        except ValueError as error:
            raise Forbidden(f"failed to parse CSR: {error}") from error
        if PRIVILEGED_GROUP in groups:
            raise Forbidden(f"use of {_SIGNER} signer with {PRIVILEGED_GROUP} group is not allowed")
