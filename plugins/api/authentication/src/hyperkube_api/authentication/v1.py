"""The types of authentication.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="authentication.k8s.io",
    version="v1",
    proto="k8s.io.api.authentication.v1",
    openapi="io.k8s.api.authentication.v1",
)


class BoundObjectReference(KubeSchema):
    """Bound object reference: part of TokenRequestSpec.boundObjectRef."""

    kind = f.String(1, omitempty=True)
    apiVersion = f.String(2, omitempty=True)
    name = f.String(3, omitempty=True)
    uid = f.String(4, omitempty=True, typedef="types.UID")


class SelfSubjectReview(KubeObject):
    """Asks who the caller is."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    status = f.Struct("SelfSubjectReviewStatus", 2, omitempty=True, doc="What is observed.")


class SelfSubjectReviewStatus(KubeSchema):
    """What is observed of a SelfSubjectReview."""

    userInfo = f.Struct("UserInfo", 1, omitempty=True)


class TokenRequest(KubeObject):
    """Asks for a token of a service account."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("TokenRequestSpec", 2, doc="What is wished for.")
    status = f.Struct("TokenRequestStatus", 3, omitempty=True, doc="What is observed.")


class TokenRequestSpec(KubeSchema):
    """What a TokenRequest should be."""

    audiences = f.List(f.String(), 1, nullable=True, list_type="atomic")
    expirationSeconds = f.Int64(4, ptr=True, nullable=True)
    boundObjectRef = f.Struct("BoundObjectReference", 3, ptr=True, nullable=True)


class TokenRequestStatus(KubeSchema):
    """What is observed of a TokenRequest."""

    token = f.String(1)
    expirationTimestamp = f.Time(2, nullable=True)


class TokenReview(KubeObject):
    """Asks whose token it is."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("TokenReviewSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("TokenReviewStatus", 3, omitempty=True, doc="What is observed.")


class TokenReviewSpec(KubeSchema):
    """What a TokenReview should be."""

    token = f.String(1, required=True, omitempty=True)
    audiences = f.List(f.String(), 2, omitempty=True, list_type="atomic")


class TokenReviewStatus(KubeSchema):
    """What is observed of a TokenReview."""

    authenticated = f.Bool(1, omitempty=True)
    user = f.Struct("UserInfo", 2, omitempty=True)
    audiences = f.List(f.String(), 4, omitempty=True, list_type="atomic")
    error = f.String(3, omitempty=True)


class UserInfo(KubeSchema):
    """User info: part of AdmissionRequest.userInfo, SelfSubjectReviewStatus.userInfo, TokenReviewStatus.user."""

    username = f.String(1, omitempty=True)
    uid = f.String(2, omitempty=True)
    groups = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    extra = f.Map(f.List(f.String(), typedef="v1.ExtraValue"), 4, omitempty=True, wrapper=True)
