"""The types of authorization.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="authorization.k8s.io",
    version="v1",
    proto="k8s.io.api.authorization.v1",
    openapi="io.k8s.api.authorization.v1",
)


class FieldSelectorAttributes(KubeSchema):
    """Field selector attributes: part of ResourceAttributes.fieldSelector."""

    rawSelector = f.String(1, omitempty=True)
    requirements = f.List("hyperkube_api.meta.v1:FieldSelectorRequirement", 2, omitempty=True, list_type="atomic")


class LabelSelectorAttributes(KubeSchema):
    """Label selector attributes: part of ResourceAttributes.labelSelector."""

    rawSelector = f.String(1, omitempty=True)
    requirements = f.List("hyperkube_api.meta.v1:LabelSelectorRequirement", 2, omitempty=True, list_type="atomic")


class LocalSubjectAccessReview(KubeObject):
    """Asks whether a user may do something in a namespace."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("SubjectAccessReviewSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("SubjectAccessReviewStatus", 3, omitempty=True, doc="What is observed.")


class NonResourceAttributes(KubeSchema):
    """Non resource attributes: part of SelfSubjectAccessReviewSpec.nonResourceAttributes, SubjectAccessReviewSpec.nonResourceAttributes."""

    path = f.String(1, omitempty=True)
    verb = f.String(2, omitempty=True)


class NonResourceRule(KubeSchema):
    """Non resource rule: part of SubjectRulesReviewStatus.nonResourceRules."""

    verbs = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    nonResourceURLs = f.List(f.String(), 2, omitempty=True, list_type="atomic")


class ResourceAttributes(KubeSchema):
    """Resource attributes: part of SelfSubjectAccessReviewSpec.resourceAttributes, SubjectAccessReviewSpec.resourceAttributes."""

    namespace = f.String(1, omitempty=True)
    verb = f.String(2, omitempty=True)
    group = f.String(3, omitempty=True)
    version = f.String(4, omitempty=True)
    resource = f.String(5, omitempty=True)
    subresource = f.String(6, omitempty=True)
    name = f.String(7, omitempty=True)
    fieldSelector = f.Struct("FieldSelectorAttributes", 8, ptr=True, omitempty=True)
    labelSelector = f.Struct("LabelSelectorAttributes", 9, ptr=True, omitempty=True)


class ResourceRule(KubeSchema):
    """Resource rule: part of SubjectRulesReviewStatus.resourceRules."""

    verbs = f.List(f.String(), 1, required=True, nullable=True, list_type="atomic")
    apiGroups = f.List(f.String(), 2, omitempty=True, list_type="atomic")
    resources = f.List(f.String(), 3, omitempty=True, list_type="atomic")
    resourceNames = f.List(f.String(), 4, omitempty=True, list_type="atomic")


class SelfSubjectAccessReview(KubeObject):
    """Asks whether the caller may do something."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("SelfSubjectAccessReviewSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("SubjectAccessReviewStatus", 3, omitempty=True, doc="What is observed.")


class SelfSubjectAccessReviewSpec(KubeSchema):
    """What a SelfSubjectAccessReview should be."""

    resourceAttributes = f.Struct("ResourceAttributes", 1, ptr=True, omitempty=True)
    nonResourceAttributes = f.Struct("NonResourceAttributes", 2, ptr=True, omitempty=True)


class SelfSubjectRulesReview(KubeObject):
    """Lists what the caller may do in a namespace."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("SelfSubjectRulesReviewSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("SubjectRulesReviewStatus", 3, omitempty=True, doc="What is observed.")


class SelfSubjectRulesReviewSpec(KubeSchema):
    """What a SelfSubjectRulesReview should be."""

    namespace = f.String(1, omitempty=True)


class SubjectAccessReview(KubeObject):
    """Asks whether a user may do something."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("SubjectAccessReviewSpec", 2, required=True, doc="What is wished for.")
    status = f.Struct("SubjectAccessReviewStatus", 3, omitempty=True, doc="What is observed.")


class SubjectAccessReviewSpec(KubeSchema):
    """What a SubjectAccessReview should be."""

    resourceAttributes = f.Struct("ResourceAttributes", 1, ptr=True, omitempty=True)
    nonResourceAttributes = f.Struct("NonResourceAttributes", 2, ptr=True, omitempty=True)
    user = f.String(3, omitempty=True)
    groups = f.List(f.String(), 4, omitempty=True, list_type="atomic")
    extra = f.Map(f.List(f.String(), typedef="v1.ExtraValue"), 5, omitempty=True, wrapper=True)
    uid = f.String(6, omitempty=True)


class SubjectAccessReviewStatus(KubeSchema):
    """What is observed of a SubjectAccessReview."""

    allowed = f.Bool(1, required=True)
    denied = f.Bool(4, omitempty=True)
    reason = f.String(2, omitempty=True, doc="Why, in one word in CamelCase.")
    evaluationError = f.String(3, omitempty=True)


class SubjectRulesReviewStatus(KubeSchema):
    """Subject rules review status: part of SelfSubjectRulesReview.status."""

    resourceRules = f.List("ResourceRule", 1, required=True, nullable=True, list_type="atomic")
    nonResourceRules = f.List("NonResourceRule", 2, required=True, nullable=True, list_type="atomic")
    incomplete = f.Bool(3, required=True)
    evaluationError = f.String(4, omitempty=True)
