"""The types of metrics.k8s.io/v1beta1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="metrics.k8s.io",
    version="v1beta1",
    proto="k8s.io.metrics.pkg.apis.metrics.v1beta1",
    openapi="io.k8s.metrics.pkg.apis.metrics.v1beta1",
)


class ContainerMetrics(KubeSchema, published=False):
    """Container metrics: part of PodMetrics.containers."""

    name = f.String(1, required=True)
    usage = f.Map(f.Quantity(), 2, required=True, nullable=True, typedef="v1.ResourceList")


class NodeMetrics(KubeObject, published=False):
    """Node metrics: part of NodeMetricsList.items."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    timestamp = f.Time(2, required=True, nullable=True)
    window = f.Duration(3, required=True)
    usage = f.Map(f.Quantity(), 4, required=True, nullable=True, typedef="v1.ResourceList")


class NodeMetricsList(KubeObject, published=False):
    """A list of NodeMetrics objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("NodeMetrics", 2, required=True, nullable=True, doc="The objects.")


class PodMetrics(KubeObject, published=False):
    """Pod metrics: part of PodMetricsList.items."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    timestamp = f.Time(2, required=True, nullable=True)
    window = f.Duration(3, required=True)
    containers = f.List("ContainerMetrics", 4, required=True, nullable=True, list_type="atomic")


class PodMetricsList(KubeObject, published=False):
    """A list of PodMetrics objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("PodMetrics", 2, required=True, nullable=True, doc="The objects.")
