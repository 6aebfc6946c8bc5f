"""The types of node.k8s.io/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="node.k8s.io",
    version="v1",
    proto="k8s.io.api.node.v1",
    openapi="io.k8s.api.node.v1",
)


class Overhead(KubeSchema):
    """Overhead: part of RuntimeClass.overhead."""

    podFixed = f.Map(f.Quantity(), 1, omitempty=True, typedef="v1.ResourceList")


class RuntimeClass(KubeObject):
    """A way of running containers, with the overhead it brings."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    handler = f.String(
        2,
        required=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:format="k8s-short-name"',
            'k8s:alpha(since: "1.36")=+k8s:immutable',
            'k8s:alpha(since: "1.36")=+k8s:required',
        ),
    )
    overhead = f.Struct("Overhead", 3, ptr=True, omitempty=True)
    scheduling = f.Struct("Scheduling", 4, ptr=True, omitempty=True)


class RuntimeClassList(KubeObject):
    """A list of RuntimeClass objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("RuntimeClass", 2, required=True, nullable=True, doc="The objects.")


class Scheduling(KubeSchema):
    """Scheduling: part of RuntimeClass.scheduling."""

    nodeSelector = f.Map(f.String(), 1, omitempty=True, map_type="atomic")
    tolerations = f.List("hyperkube_api.core.v1:Toleration", 2, omitempty=True, list_type="atomic")
