"""CertificateApproval: who approves a signing request needs the right to do so for its signer.

The verb is ``approve`` on ``signers`` in certificates.k8s.io, named ``DOMAIN/PATH`` or ``DOMAIN/*``.
Source: kubernetes ``plugin/pkg/admission/certificates/approval``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.plugin import Plugin

_SIGNERS = GroupVersionResource("certificates.k8s.io", "*", "signers")


class CertificateApproval(Plugin):
    """Asks for the right to approve."""

    may_block = False
    handles = frozenset({"certificatesigningrequests/approval"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Ask for the signer by name, then for all of its domain."""
        if not request.updates("certificatesigningrequests", "certificates.k8s.io", "approval"):
            return
        old = request.old_object or request.written()
        signer = str((old.get("spec") or {}).get("signerName", ""))
        domain = signer.split("/", maxsplit=1)[0]
        if not any(request.may("approve", _SIGNERS, name=name) for name in (signer, f"{domain}/*")):
            raise Forbidden(f"user not permitted to approve requests with signerName {quote(signer)}")
