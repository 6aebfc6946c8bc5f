"""The types of internal.apiserver.k8s.io/v1alpha1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="internal.apiserver.k8s.io",
    version="v1alpha1",
    proto="k8s.io.api.apiserverinternal.v1alpha1",
    openapi="io.k8s.api.apiserverinternal.v1alpha1",
)


class ServerStorageVersion(KubeSchema):
    """Server storage version: part of StorageVersionStatus.storageVersions."""

    apiServerID = f.String(1, required=True, omitempty=True)
    encodingVersion = f.String(2, required=True, omitempty=True)
    decodableVersions = f.List(f.String(), 3, required=True, omitempty=True, list_type="set")
    servedVersions = f.List(f.String(), 4, omitempty=True, list_type="set")


class StorageVersion(KubeObject):
    """In which version each API server stores a resource."""

    metadata = f.Struct(
        "hyperkube_api.meta.v1:ObjectMeta", 1, required=True, omitempty=True, doc="Standard metadata of the object."
    )
    spec = f.Struct("StorageVersionSpec", 2, doc="What is wished for.")
    status = f.Struct("StorageVersionStatus", 3, doc="What is observed.")


class StorageVersionCondition(KubeSchema):
    """Storage version condition: part of StorageVersionStatus.conditions."""

    type = f.String(1, required=True, typedef="v1alpha1.StorageVersionConditionType")
    status = f.String(2, required=True, typedef="v1alpha1.ConditionStatus", doc="What is observed.")
    observedGeneration = f.Int64(3, omitempty=True, doc="The generation that the status speaks of.")
    lastTransitionTime = f.Time(4, omitempty=True, doc="When the condition last changed.")
    reason = f.String(5, required=True, doc="Why, in one word in CamelCase.")
    message = f.String(6, required=True, omitempty=True, doc="Why, for people.")


class StorageVersionList(KubeObject):
    """A list of StorageVersion objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("StorageVersion", 2, required=True, nullable=True, doc="The objects.")


class StorageVersionSpec(KubeSchema):
    """What a StorageVersion should be."""


class StorageVersionStatus(KubeSchema):
    """What is observed of a StorageVersion."""

    storageVersions = f.List("ServerStorageVersion", 1, omitempty=True, list_type="map", list_map_keys=("apiServerID",))
    commonEncodingVersion = f.String(2, ptr=True, omitempty=True)
    conditions = f.List(
        "StorageVersionCondition",
        3,
        omitempty=True,
        list_type="map",
        list_map_keys=("type",),
        doc="Aspects of the state, each true, false or unknown.",
    )
