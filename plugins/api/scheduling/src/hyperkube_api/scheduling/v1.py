"""The types of scheduling.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="scheduling.k8s.io",
    version="v1",
    proto="k8s.io.api.scheduling.v1",
    openapi="io.k8s.api.scheduling.v1",
)


class PriorityClass(KubeObject):
    """A name for how important pods are."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    value = f.Int32(2)
    globalDefault = f.Bool(3, omitempty=True)
    description = f.String(4, omitempty=True)
    preemptionPolicy = f.String(
        5, ptr=True, omitempty=True, enum=("Never", "PreemptLowerPriority"), typedef="v1.PreemptionPolicy"
    )


class PriorityClassList(KubeObject):
    """A list of PriorityClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PriorityClass", 2, required=True, nullable=True, doc="The objects.")
