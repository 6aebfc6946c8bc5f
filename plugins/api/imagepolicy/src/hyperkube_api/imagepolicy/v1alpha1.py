"""The types of imagepolicy.k8s.io/v1alpha1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="imagepolicy.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.imagepolicy.v1alpha1",
    openapi="io.k8s.api.imagepolicy.v1alpha1",
)


class ImageReview(KubeObject, published=False):
    """Image review."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ImageReviewSpec", 2, doc="What is wished for.")
    status = f.Struct("ImageReviewStatus", 3, omitempty=True, doc="What is observed.")


class ImageReviewContainerSpec(KubeSchema, published=False):
    """Image review container spec: part of ImageReviewSpec.containers."""

    image = f.String(1, omitempty=True)


class ImageReviewSpec(KubeSchema, published=False):
    """What a ImageReview should be."""

    containers = f.List("ImageReviewContainerSpec", 1, omitempty=True, list_type="atomic")
    annotations = f.Map(f.String(), 2, omitempty=True)
    namespace = f.String(3, omitempty=True)


class ImageReviewStatus(KubeSchema, published=False):
    """What is observed of a ImageReview."""

    allowed = f.Bool(1)
    reason = f.String(2, omitempty=True, doc="Why, in one word in CamelCase.")
    auditAnnotations = f.Map(f.String(), 3, omitempty=True)
