"""The types of certificates.k8s.io/v1alpha1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="certificates.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.certificates.v1alpha1",
    openapi="io.k8s.api.certificates.v1alpha1",
)


class ClusterTrustBundle(KubeObject):
    """Certificates of authorities that pods may trust."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ClusterTrustBundleSpec", 2, required=True, doc="What is wished for.")


class ClusterTrustBundleList(KubeObject):
    """A list of ClusterTrustBundle objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("ClusterTrustBundle", 2, required=True, nullable=True, doc="The objects.")


class ClusterTrustBundleSpec(KubeSchema):
    """What a ClusterTrustBundle should be."""

    signerName = f.String(1, omitempty=True)
    trustBundle = f.String(2, required=True)
