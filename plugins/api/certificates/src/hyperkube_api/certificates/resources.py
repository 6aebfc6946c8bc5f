"""The certificates group: requests to sign a certificate."""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.certificates.strategy import CertificateApprovalStrategy, CertificateSigningRequestStrategy
from hyperkube_api.certificates.table import certificate_signing_request_cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import Version, fields

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1 = Version("certificates.k8s.io", "v1", "hyperkube_api.certificates.v1")


def _v1() -> tuple[ResourceSpec, ...]:
    return (
        V1.resource(
            "certificatesigningrequests",
            "CertificateSigningRequest",
            namespaced=False,
            short_names=("csr",),
            storage_prefix="certificatesigningrequests",
            storage_version_hash="95fRKMXA+00=",
            strategy=CertificateSigningRequestStrategy(),
            columns=(
                NAME,
                AGE,
                column("SignerName", field="spec.signerName"),
                column("Requestor", description="Base64-encoded PKCS#10 CSR data"),
                column("RequestedDuration", field="spec.expirationSeconds"),
                column("Condition", description="Conditions applied to the request, such as approval or denial."),
            ),
            cells=certificate_signing_request_cells,
            fields=fields("spec.signerName"),
            subresources=(
                V1.part("approval", "CertificateSigningRequest", CertificateApprovalStrategy()),
                V1.status("CertificateSigningRequest"),
            ),
        ),
    )


class CertificatesApi(Plugin):
    """The certificates group: requests to sign a certificate."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve certificates.k8s.io/v1."""
        return [
            ApiGroupVersion(
                group="certificates.k8s.io", version="v1", resources=_v1(), group_priority=17_300, version_priority=15
            ),
        ]
