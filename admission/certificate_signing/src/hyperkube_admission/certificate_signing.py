"""CertificateSigning: who issues a certificate, or declares its request failed, needs the right for its signer.

The verb is ``sign`` on ``signers`` in certificates.k8s.io, named ``DOMAIN/PATH`` or ``DOMAIN/*``.
Source: kubernetes ``plugin/pkg/admission/certificates/signing``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_SIGNERS = GroupVersionResource("certificates.k8s.io", "*", "signers")


def _outcome(request: Object) -> tuple[str, list[Object]]:
    """Return the certificate and the conditions of failure."""
    status = request.get("status") or {}
    failed = [condition for condition in status.get("conditions") or () if condition.get("type") == "Failed"]
    return str(status.get("certificate") or ""), failed


class CertificateSigning(Plugin):
    """Asks for the right to sign."""

    may_block = False
    handles = frozenset({"certificatesigningrequests/status"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Ask when certificate or failure change: for the signer by name, then for all of its domain."""
        if not request.updates("certificatesigningrequests", "certificates.k8s.io", "status"):
            return
        old = request.old_object or {}
        if _outcome(old) == _outcome(request.written()):
            return
        signer = str((old.get("spec") or {}).get("signerName", ""))
        domain = signer.split("/", maxsplit=1)[0]
        if not any(request.may("sign", _SIGNERS, name=name) for name in (signer, f"{domain}/*")):
            raise Forbidden(f"user not permitted to sign requests with signerName {quote(signer)}")
