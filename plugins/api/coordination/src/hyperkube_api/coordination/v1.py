"""The types of coordination.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="coordination.k8s.io",
    version="v1",
    proto="k8s.io.api.coordination.v1",
    openapi="io.k8s.api.coordination.v1",
)


class Lease(KubeObject):
    """A lock that has to be renewed; nodes use one to show that they live."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("LeaseSpec", 2, omitempty=True, doc="What is wished for.")


class LeaseList(KubeObject):
    """A list of Lease objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("Lease", 2, required=True, nullable=True, doc="The objects.")


class LeaseSpec(KubeSchema):
    """What a Lease should be."""

    holderIdentity = f.String(1, ptr=True, omitempty=True)
    leaseDurationSeconds = f.Int32(2, ptr=True, omitempty=True)
    acquireTime = f.MicroTime(3, ptr=True, omitempty=True)
    renewTime = f.MicroTime(4, ptr=True, omitempty=True)
    leaseTransitions = f.Int32(5, ptr=True, omitempty=True)
    strategy = f.String(
        6, ptr=True, omitempty=True, typedef="v1.CoordinatedLeaseStrategy", gate="CoordinatedLeaderElection"
    )
    preferredHolder = f.String(7, ptr=True, omitempty=True, gate="CoordinatedLeaderElection")
