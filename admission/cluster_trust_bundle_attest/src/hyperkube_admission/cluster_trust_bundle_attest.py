"""ClusterTrustBundleAttest: who publishes the trust anchors of a signer needs the right to attest for it.

The verb is ``attest`` on ``signers`` in certificates.k8s.io, named ``DOMAIN/PATH`` or ``DOMAIN/*``.
Source: kubernetes ``plugin/pkg/admission/certificates/ctbattest``.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.plugin import Plugin

_SIGNERS = GroupVersionResource("certificates.k8s.io", "*", "signers")


class ClusterTrustBundleAttest(Plugin):
    """Asks for the right to attest."""

    may_block = False
    handles = frozenset({"clustertrustbundles"})

    @hookimpl
    def admission_validate(self, request: AdmissionRequest) -> None:
        """Ask for the signer by name, then for all of its domain; bundles without a signer are anybody's."""
        if not request.writes("clustertrustbundles", "certificates.k8s.io"):
            return
        signer = str((request.written().get("spec") or {}).get("signerName") or "")
        old = request.old_object or {}
        if not signer or (request.operation == "UPDATE" and old.get("spec") == request.written().get("spec")):
            return
        domain = signer.split("/", maxsplit=1)[0]
        if not any(request.may("attest", _SIGNERS, name=name) for name in (signer, f"{domain}/*")):
            raise Forbidden(f"user not permitted to attest for signerName {quote(signer)}")
