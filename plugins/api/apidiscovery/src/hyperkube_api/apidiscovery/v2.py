"""The types of apidiscovery.k8s.io/v2, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="apidiscovery.k8s.io",
    version="v2",
    proto="k8s.io.api.apidiscovery.v2",
    openapi="io.k8s.api.apidiscovery.v2",
)


class APIGroupDiscovery(KubeObject, published=False):
    """API group discovery: part of APIGroupDiscoveryList.items."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    versions = f.List("APIVersionDiscovery", 2, omitempty=True, list_type="map", list_map_keys=("version",))


class APIGroupDiscoveryList(KubeObject, published=False):
    """A list of APIGroupDiscovery objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("APIGroupDiscovery", 2, required=True, nullable=True, doc="The objects.")


class APIResourceDiscovery(KubeSchema, published=False):
    """API resource discovery: part of APIVersionDiscovery.resources."""

    resource = f.String(1, required=True)
    responseKind = f.Struct("hyperkube_api.meta.v1:GroupVersionKind", 2, ptr=True, omitempty=True)
    scope = f.String(3, required=True, typedef="v2.ResourceScope")
    singularResource = f.String(4, required=True)
    verbs = f.List(f.String(), 5, required=True, nullable=True, list_type="set")
    shortNames = f.List(f.String(), 6, omitempty=True, list_type="set")
    categories = f.List(f.String(), 7, omitempty=True, list_type="set")
    subresources = f.List("APISubresourceDiscovery", 8, omitempty=True, list_type="map", list_map_keys=("subresource",))


class APISubresourceDiscovery(KubeSchema, published=False):
    """API subresource discovery: part of APIResourceDiscovery.subresources."""

    subresource = f.String(1, required=True)
    responseKind = f.Struct("hyperkube_api.meta.v1:GroupVersionKind", 2, ptr=True, omitempty=True)
    acceptedTypes = f.List(
        "hyperkube_api.meta.v1:GroupVersionKind",
        3,
        omitempty=True,
        list_type="map",
        list_map_keys=("group", "version", "kind"),
    )
    verbs = f.List(f.String(), 4, required=True, nullable=True, list_type="set")


class APIVersionDiscovery(KubeSchema, published=False):
    """API version discovery: part of APIGroupDiscovery.versions."""

    version = f.String(1, required=True)
    resources = f.List("APIResourceDiscovery", 2, omitempty=True, list_type="map", list_map_keys=("resource",))
    freshness = f.String(3, omitempty=True, typedef="v2.DiscoveryFreshness")
