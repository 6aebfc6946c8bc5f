"""The types of certificates.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="certificates.k8s.io",
    version="v1",
    proto="k8s.io.api.certificates.v1",
    openapi="io.k8s.api.certificates.v1",
)


class CertificateSigningRequest(KubeObject):
    """Asks a signer for a certificate."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("CertificateSigningRequestSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("CertificateSigningRequestStatus", 3, omitempty=True, doc="What is observed.")


class CertificateSigningRequestCondition(KubeSchema):
    """Certificate signing request condition: part of CertificateSigningRequestStatus.conditions."""

    type = f.String(1, required=True, typedef="v1.RequestConditionType")
    status = f.String(6, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    reason = f.String(2, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(3, omitempty=True, doc="Why, for people.")
    lastUpdateTime = f.Time(4, omitempty=True)
    lastTransitionTime = f.Time(5, omitempty=True, doc="When the condition last changed.")


class CertificateSigningRequestList(KubeObject):
    """A list of CertificateSigningRequest objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("CertificateSigningRequest", 2, required=True, nullable=True, doc="The objects.")


class CertificateSigningRequestSpec(KubeSchema):
    """What a CertificateSigningRequest should be."""

    request = f.Bytes(1, required=True, nullable=True, format="byte")
    signerName = f.String(7, required=True)
    expirationSeconds = f.Int32(8, ptr=True, omitempty=True)
    usages = f.List(
        f.String(typedef="v1.KeyUsage"),
        5,
        omitempty=True,
        enum=(
            "any",
            "cert sign",
            "client auth",
            "code signing",
            "content commitment",
            "crl sign",
            "data encipherment",
            "decipher only",
            "digital signature",
            "email protection",
            "encipher only",
            "ipsec end system",
            "ipsec tunnel",
            "ipsec user",
            "key agreement",
            "key encipherment",
            "microsoft sgc",
            "netscape sgc",
            "ocsp signing",
            "s/mime",
            "server auth",
            "signing",
            "timestamping",
        ),
        list_type="atomic",
    )
    username = f.String(2, omitempty=True)
    uid = f.String(3, omitempty=True)
    groups = f.List(f.String(), 4, omitempty=True, list_type="atomic")
    extra = f.Map(f.List(f.String(), typedef="v1.ExtraValue"), 6, omitempty=True, wrapper=True)


class CertificateSigningRequestStatus(KubeSchema):
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
