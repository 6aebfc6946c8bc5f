"""certificates.k8s.io/v1beta1: signing requests, in which the signer is optional.

Source: kubernetes v1.21 pkg/apis/certificates/v1beta1/{defaults,helpers}.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_api.certificates.resources import CertificatesApi
from hyperkube_api.meta.older_versions import Differences, Lifecycle, OlderVersion, newest_resources
from hyperkube_api.meta.specs import Version
from hyperkube_lib.certificate_requests import (
    BadRequestContent,
    check_kubelet_client,
    check_kubelet_serving,
    parse,
)

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.api import ApiGroupVersion
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

_GROUP = "certificates.k8s.io"
_V1BETA1 = OlderVersion(
    version=Version(_GROUP, "v1beta1", "hyperkube_api.legacy_access.schemas.certificates_v1beta1"),
    lifecycle=Lifecycle(19, 22, f"{_GROUP}/v1"),
)
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_SIGNERS = (
    ("kubernetes.io/kube-apiserver-client-kubelet", check_kubelet_client),
    ("kubernetes.io/kubelet-serving", check_kubelet_serving),
)
_USAGES = ("digital signature", "key encipherment")


def default_request(csr: Object) -> None:
    """Fill in the signer by what is requested, and the status of conditions."""
    spec: Object = csr["spec"]
    if not spec.get("usages"):
        spec["usages"] = [*_USAGES]
    if not spec.get("signerName"):
        spec["signerName"] = _signer_of(csr)
    for condition in (csr.get("status") or {}).get("conditions") or ():
        if not condition.get("status"):
            condition["status"] = "True"


def _signer_of(csr: Object) -> str:
    usages = csr["spec"]["usages"]
    for signer, check in _SIGNERS:
        try:
            check(parse(csr), usages)
        except BadRequestContent:
            continue
        return signer
    return _LEGACY_SIGNER


def is_error(error: FieldError) -> bool:
    """Return whether an error applies: v1beta1 allows the signer ``legacy-unknown``."""
    return not (str(error.path) == "spec.signerName" and error.value == _LEGACY_SIGNER)


class LegacyCertificatesApi(Plugin):
    """certificates.k8s.io/v1beta1: signing requests, in which the signer is optional."""

    @hookimpl
    def api_group_versions(self) -> Iterable[ApiGroupVersion]:
        """Serve certificates.k8s.io/v1beta1 where it is asked for."""
        newer = newest_resources(CertificatesApi, self.context)
        differences = Differences(default=default_request, accept=is_error)
        requests = _V1BETA1.resource(newer["certificatesigningrequests"], differences)
        return [_V1BETA1.group_version([requests], group_priority=17_300, version_priority=9)]
