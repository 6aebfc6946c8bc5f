"""The types of autoscaling/v2beta1: a metric's name and its target stand side by side."""

# ruff: noqa: N815 -- members bear Kubernetes' own names

from hyperkube_api.autoscaling import v2 as newer
from hyperkube_api.meta.schema_aliases import alias, list_alias

from hyperkube.machinery.schema import KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="autoscaling",
    version="v2beta1",
    proto="k8s.io.api.autoscaling.v2beta1",
    openapi="io.k8s.api.autoscaling.v2beta1",
)
_FLAT = "hyperkube_api.autoscaling.v1"


class HorizontalPodAutoscalerSpec(KubeSchema):
    """What a HorizontalPodAutoscaler should be."""

    scaleTargetRef = f.Struct("hyperkube_api.autoscaling.v2:CrossVersionObjectReference", 1, required=True)
    minReplicas = f.Int32(2, ptr=True, omitempty=True)
    maxReplicas = f.Int32(3, required=True)
    metrics = f.List(f"{_FLAT}:MetricSpec", 4, omitempty=True, list_type="atomic")


HorizontalPodAutoscalerStatus = alias(
    newer.HorizontalPodAutoscalerStatus,
    __name__,
    currentMetrics=f.List(f"{_FLAT}:MetricStatus", 5, nullable=True, list_type="atomic"),
)
HorizontalPodAutoscaler = alias(
    newer.HorizontalPodAutoscaler,
    __name__,
    spec=f.Struct("HorizontalPodAutoscalerSpec", 2, omitempty=True, doc="What is wished for."),
    status=f.Struct("HorizontalPodAutoscalerStatus", 3, omitempty=True, doc="What is observed."),
)
HorizontalPodAutoscalerList = list_alias(newer.HorizontalPodAutoscalerList, __name__)
