"""The types of certificates.k8s.io/v1beta1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="certificates.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.certificates.v1beta1",
    openapi="io.k8s.api.certificates.v1beta1",
)


class CertificateSigningRequest(KubeObject, published=False):
    """Asks a signer for a certificate."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CertificateSigningRequestSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("CertificateSigningRequestStatus", 3, omitempty=True, doc="What is observed.")


class CertificateSigningRequestCondition(KubeSchema, published=False):
    """Certificate signing request condition: part of CertificateSigningRequestStatus.conditions."""

    type = f.String(1, required=True, typedef="v1beta1.RequestConditionType")
    status = f.String(6, typedef="v1.ConditionStatus", doc="What is observed.")
    reason = f.String(2, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(3, omitempty=True, doc="Why, for people.")
    lastUpdateTime = f.Time(4, omitempty=True)
    lastTransitionTime = f.Time(5, omitempty=True, doc="When the condition last changed.")


class CertificateSigningRequestList(KubeObject, published=False):
    """A list of CertificateSigningRequest objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CertificateSigningRequest", 2, required=True, nullable=True, doc="The objects.")


class CertificateSigningRequestSpec(KubeSchema, published=False):
    """What a CertificateSigningRequest should be."""

    request = f.Bytes(1, required=True, nullable=True, format="byte")
    signerName = f.String(7, ptr=True, omitempty=True)
    expirationSeconds = f.Int32(8, ptr=True, omitempty=True)
    usages = f.List(f.String(typedef="v1beta1.KeyUsage"), 5, omitempty=True, list_type="atomic")
    username = f.String(2, omitempty=True)
    uid = f.String(3, omitempty=True)
    groups = f.List(f.String(), 4, omitempty=True, list_type="atomic")
    extra = f.Map(f.List(f.String(), typedef="v1beta1.ExtraValue"), 6, omitempty=True, wrapper=True)


class CertificateSigningRequestStatus(KubeSchema, published=False):
    """What is observed of a CertificateSigningRequest."""

    conditions = f.List(
        "CertificateSigningRequestCondition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:listType=map',
            'k8s:alpha(since: "1.36")=+k8s:listMapKey=type',
            'k8s:alpha(since: "1.36")=+k8s:customUnique',
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:item(type: "Approved")=+k8s:zeroOrOneOfMember',
            'k8s:alpha(since: "1.36")=+k8s:item(type: "Denied")=+k8s:zeroOrOneOfMember',
        ),
        doc="Aspects of the state, each true, false or unknown.",
    )
    certificate = f.Bytes(2, omitempty=True, format="byte")


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


class PodCertificateRequest(KubeObject):
    """Asks a signer for a certificate for a pod."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("PodCertificateRequestSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("PodCertificateRequestStatus", 3, omitempty=True, doc="What is observed.")


class PodCertificateRequestList(KubeObject):
    """A list of PodCertificateRequest objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodCertificateRequest", 2, required=True, nullable=True, doc="The objects.")


class PodCertificateRequestSpec(KubeSchema):
    """What a PodCertificateRequest should be."""

    signerName = f.String(1, required=True)
    podName = f.String(2, required=True)
    podUID = f.String(3, required=True, typedef="types.UID")
    serviceAccountName = f.String(4, required=True)
    serviceAccountUID = f.String(5, required=True, typedef="types.UID")
    nodeName = f.String(6, required=True, typedef="types.NodeName")
    nodeUID = f.String(7, required=True, typedef="types.UID")
    maxExpirationSeconds = f.Int32(8, ptr=True, omitempty=True, default=86400)
    pkixPublicKey = f.Bytes(9, nullable=True, format="byte")
    proofOfPossession = f.Bytes(10, nullable=True, format="byte")
    stubPKCS10Request = f.Bytes(12, required=True, nullable=True, format="byte")
    unverifiedUserAnnotations = f.Map(f.String(), 11, omitempty=True)


class PodCertificateRequestStatus(KubeSchema):
    """What is observed of a PodCertificateRequest."""

    conditions = f.List(
        "hyperkube_api.meta.v1:Condition",
        1,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Aspects of the state, each true, false or unknown.",
    )
    certificateChain = f.String(2, omitempty=True)
    notBefore = f.Time(4, ptr=True, omitempty=True)
    beginRefreshAt = f.Time(5, ptr=True, omitempty=True)
    notAfter = f.Time(6, ptr=True, omitempty=True)
