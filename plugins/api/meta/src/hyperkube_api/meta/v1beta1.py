"""The types of meta/v1beta1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="",
    version="v1beta1",
    proto="k8s.io.apimachinery.pkg.apis.meta.v1beta1",
    openapi="io.k8s.apimachinery.pkg.apis.meta.v1beta1",
)


class PartialObjectMetadataList(KubeObject, published=False):
    """A list of objects of which only the metadata are given."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 2, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("hyperkube_api.meta.v1:PartialObjectMetadata", 1, required=True, nullable=True, doc="The objects.")
