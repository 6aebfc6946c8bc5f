"""The certificates group: requests to sign a certificate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperkube_api.certificates.strategy import CertificateApprovalStrategy, CertificateSigningRequestStrategy
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.specs import OnFirstUse, Version, fields

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion, ResourceSpec
from hyperkube.plugin import Plugin

V1, V1BETA1, V1ALPHA1 = (
    Version("certificates.k8s.io", version, f"hyperkube_api.certificates.{version}")
    for version in ("v1", "v1beta1", "v1alpha1")
)


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
            cells=OnFirstUse("hyperkube_api.certificates.table:certificate_signing_request_cells"),
            fields=fields("spec.signerName"),
            subresources=(
                V1.part("approval", "CertificateSigningRequest", CertificateApprovalStrategy()),
                V1.status("CertificateSigningRequest"),
            ),
        ),
    )


class CertificatesApi(Plugin):
    """The certificates group: requests to sign a certificate, and the authorities that sign."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve certificates.k8s.io/v1; the other versions with their feature gates, where they are asked for."""
        return [_version("v1", 15, _v1()), *self._gated()]

    def _gated(self) -> Iterator[ApiGroupVersion]:
        gates = self.context.gates if self.context is not None else {}
        bundles, requests = bool(gates.get("ClusterTrustBundle")), bool(gates.get("PodCertificateRequest"))
        if bundles or requests:
            # Imported only where they are served: a start pays for each module.
            from hyperkube_api.certificates.cluster_trust_bundles import cluster_trust_bundles
            from hyperkube_api.certificates.pod_certificate_requests import pod_certificate_requests

            beta = [cluster_trust_bundles(V1BETA1, V1BETA1)] if bundles else []
            beta += [pod_certificate_requests(V1BETA1)] if requests else []
            yield _version("v1beta1", 9, tuple(beta))
            if bundles:
                yield _version("v1alpha1", 1, (cluster_trust_bundles(V1ALPHA1, V1BETA1),))


def _version(version: str, priority: int, resources: tuple[ResourceSpec, ...]) -> ApiGroupVersion:
    return ApiGroupVersion(
        group="certificates.k8s.io",
        version=version,
        resources=resources,
        group_priority=17_300,
        version_priority=priority,
    )
