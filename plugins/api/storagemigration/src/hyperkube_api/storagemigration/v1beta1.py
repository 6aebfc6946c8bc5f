"""The types of storagemigration.k8s.io/v1beta1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="storagemigration.k8s.io",
    version="v1beta1",
    proto="k8s.io.api.storagemigration.v1beta1",
    openapi="io.k8s.api.storagemigration.v1beta1",
)


class StorageVersionMigration(KubeObject):
    """Rewrites stored objects in the current storage version."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("StorageVersionMigrationSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("StorageVersionMigrationStatus", 3, omitempty=True, doc="What is observed.")


class StorageVersionMigrationList(KubeObject):
    """A list of StorageVersionMigration objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("StorageVersionMigration", 2, required=True, nullable=True, doc="The objects.")


class StorageVersionMigrationSpec(KubeSchema):
    """What a StorageVersionMigration should be."""

    resource = f.Struct("hyperkube_api.meta.v1:GroupResource", 1, required=True)


class StorageVersionMigrationStatus(KubeSchema):
    """What is observed of a StorageVersionMigration."""

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
    resourceVersion = f.String(2, omitempty=True)
