"""The types of certificates.k8s.io/v1beta1: as they are today, under their old name."""

from hyperkube_api.certificates import v1 as newer
from hyperkube_api.meta.again import again, listed

from hyperkube.machinery.schema import Package

PACKAGE = Package(
    group="certificates.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.certificates.v1beta1",
    openapi="io.k8s.api.certificates.v1beta1",
)

CertificateSigningRequest = again(newer.CertificateSigningRequest, __name__)
CertificateSigningRequestList = listed(newer.CertificateSigningRequestList, __name__)
