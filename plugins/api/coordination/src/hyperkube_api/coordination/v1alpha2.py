"""The types of coordination.k8s.io/v1alpha2, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="coordination.k8s.io",
    version="v1alpha2",
    proto="k8s.io.api.coordination.v1alpha2",
    openapi="io.k8s.api.coordination.v1alpha2",
)


class LeaseCandidate(KubeObject):
    """A candidate for holding a lease, when the cluster picks the leader."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("LeaseCandidateSpec", 2, required=True, omitempty=True, doc="What is wished for.")


class LeaseCandidateList(KubeObject):
    """A list of LeaseCandidate objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("LeaseCandidate", 2, required=True, nullable=True, doc="The objects.")


class LeaseCandidateSpec(KubeSchema):
    """What a LeaseCandidate should be."""

    leaseName = f.String(1, required=True)
    pingTime = f.MicroTime(2, ptr=True, omitempty=True)
    renewTime = f.MicroTime(3, ptr=True, omitempty=True)
    binaryVersion = f.String(4, required=True)
    emulationVersion = f.String(5, omitempty=True)
    strategy = f.String(6, required=True, omitempty=True, typedef="v1.CoordinatedLeaseStrategy")
