"""The types of autoscaling/v1, declared once each: members, protobuf numbers, list types, patch keys, enums and defaults."""

# ruff: noqa: N815, E501 -- members bear Kubernetes' own names, and a declaration is one table row

from hyperkube.machinery.schema import KubeObject, KubeSchema, Package
from hyperkube.machinery.schema import fields as f

PACKAGE = Package(
    group="autoscaling",
    version="v1",
    proto="k8s.io.api.autoscaling.v1",
    openapi="io.k8s.api.autoscaling.v1",
)


class ContainerResourceMetricSource(KubeSchema, published=False):
    """Container resource metric source: part of MetricSpec.containerResource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    targetAverageUtilization = f.Int32(2, ptr=True, omitempty=True)
    targetAverageValue = f.Quantity(3, ptr=True, omitempty=True)
    container = f.String(5, required=True)


class ContainerResourceMetricStatus(KubeSchema, published=False):
    """Container resource metric status: part of MetricStatus.containerResource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    currentAverageUtilization = f.Int32(2, ptr=True, omitempty=True)
    currentAverageValue = f.Quantity(3, required=True)
    container = f.String(4, required=True)


class CrossVersionObjectReference(KubeSchema, struct_type="atomic"):
    """Cross version object reference: part of HorizontalPodAutoscalerSpec.scaleTargetRef, ObjectMetricSource.target, ObjectMetricStatus.target."""

    kind = f.String(1, required=True)
    name = f.String(2, required=True)
    apiVersion = f.String(3, omitempty=True)


class ExternalMetricSource(KubeSchema, published=False):
    """External metric source: part of MetricSpec.external."""

    metricName = f.String(1, required=True)
    metricSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)
    targetValue = f.Quantity(3, ptr=True, omitempty=True)
    targetAverageValue = f.Quantity(4, ptr=True, omitempty=True)


class ExternalMetricStatus(KubeSchema, published=False):
    """External metric status: part of MetricStatus.external."""

    metricName = f.String(1, required=True)
    metricSelector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 2, ptr=True, omitempty=True)
    currentValue = f.Quantity(3, required=True)
    currentAverageValue = f.Quantity(4, ptr=True, omitempty=True)


class HorizontalPodAutoscaler(KubeObject):
    """Changes the number of replicas of a workload to keep metrics near their targets."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("HorizontalPodAutoscalerSpec", 2, required=True, omitempty=True, doc="What is wished for.")
    status = f.Struct("HorizontalPodAutoscalerStatus", 3, omitempty=True, doc="What is observed.")


class HorizontalPodAutoscalerCondition(KubeSchema, published=False):
    """Horizontal pod autoscaler condition."""

    type = f.String(1, required=True, typedef="v1.HorizontalPodAutoscalerConditionType")
    status = f.String(2, required=True, typedef="v1.ConditionStatus", doc="What is observed.")
    lastTransitionTime = f.Time(3, omitempty=True, doc="When the condition last changed.")
    reason = f.String(4, omitempty=True, doc="Why, in one word in CamelCase.")
    message = f.String(5, omitempty=True, doc="Why, for people.")


class HorizontalPodAutoscalerList(KubeObject):
    """A list of HorizontalPodAutoscaler objects."""

    metadata = f.Struct("hyperkube_api.meta.v1:ListMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    items = f.List("HorizontalPodAutoscaler", 2, required=True, nullable=True, doc="The objects.")


class HorizontalPodAutoscalerSpec(KubeSchema):
    """What a HorizontalPodAutoscaler should be."""

    scaleTargetRef = f.Struct("CrossVersionObjectReference", 1, required=True)
    minReplicas = f.Int32(
        2,
        ptr=True,
        omitempty=True,
        dv=(
            'k8s:alpha(since: "1.36")=+k8s:optional',
            'k8s:alpha(since: "1.36")=+k8s:ifEnabled(HPAScaleToZero)=+k8s:minimum=0',
            'k8s:alpha(since: "1.36")=+k8s:ifDisabled(HPAScaleToZero)=+k8s:minimum=1',
        ),
    )
    maxReplicas = f.Int32(
        3, required=True, dv=('k8s:alpha(since: "1.36")=+k8s:required', 'k8s:alpha(since: "1.36")=+k8s:minimum=1')
    )
    targetCPUUtilizationPercentage = f.Int32(4, ptr=True, omitempty=True)


class HorizontalPodAutoscalerStatus(KubeSchema):
    """What is observed of a HorizontalPodAutoscaler."""

    observedGeneration = f.Int64(1, ptr=True, omitempty=True, doc="The generation that the status speaks of.")
    lastScaleTime = f.Time(2, ptr=True, omitempty=True)
    currentReplicas = f.Int32(3, required=True)
    desiredReplicas = f.Int32(4, required=True)
    currentCPUUtilizationPercentage = f.Int32(5, ptr=True, omitempty=True)


class MetricSpec(KubeSchema, published=False):
    """Metric spec."""

    type = f.String(
        1,
        required=True,
        enum=("ContainerResource", "External", "Object", "Pods", "Resource"),
        typedef="v1.MetricSourceType",
    )
    object = f.Struct("ObjectMetricSource", 2, ptr=True, omitempty=True)
    pods = f.Struct("PodsMetricSource", 3, ptr=True, omitempty=True)
    resource = f.Struct("ResourceMetricSource", 4, ptr=True, omitempty=True)
    containerResource = f.Struct("ContainerResourceMetricSource", 7, ptr=True, omitempty=True)
    external = f.Struct("ExternalMetricSource", 5, ptr=True, omitempty=True)


class MetricStatus(KubeSchema, published=False):
    """Metric status."""

    type = f.String(
        1,
        required=True,
        enum=("ContainerResource", "External", "Object", "Pods", "Resource"),
        typedef="v1.MetricSourceType",
    )
    object = f.Struct("ObjectMetricStatus", 2, ptr=True, omitempty=True)
    pods = f.Struct("PodsMetricStatus", 3, ptr=True, omitempty=True)
    resource = f.Struct("ResourceMetricStatus", 4, ptr=True, omitempty=True)
    containerResource = f.Struct("ContainerResourceMetricStatus", 7, ptr=True, omitempty=True)
    external = f.Struct("ExternalMetricStatus", 5, ptr=True, omitempty=True)


class ObjectMetricSource(KubeSchema, published=False):
    """Object metric source: part of MetricSpec.object."""

    target = f.Struct("CrossVersionObjectReference", 1, required=True)
    metricName = f.String(2, required=True)
    targetValue = f.Quantity(3, required=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    averageValue = f.Quantity(5, ptr=True, omitempty=True)


class ObjectMetricStatus(KubeSchema, published=False):
    """Object metric status: part of MetricStatus.object."""

    target = f.Struct("CrossVersionObjectReference", 1, required=True)
    metricName = f.String(2, required=True)
    currentValue = f.Quantity(3, required=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 4, ptr=True, omitempty=True)
    averageValue = f.Quantity(5, ptr=True, omitempty=True)


class PodsMetricSource(KubeSchema, published=False):
    """Pods metric source: part of MetricSpec.pods."""

    metricName = f.String(1, required=True)
    targetAverageValue = f.Quantity(2, required=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 3, ptr=True, omitempty=True)


class PodsMetricStatus(KubeSchema, published=False):
    """Pods metric status: part of MetricStatus.pods."""

    metricName = f.String(1, required=True)
    currentAverageValue = f.Quantity(2, required=True)
    selector = f.Struct("hyperkube_api.meta.v1:LabelSelector", 3, ptr=True, omitempty=True)


class ResourceMetricSource(KubeSchema, published=False):
    """Resource metric source: part of MetricSpec.resource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    targetAverageUtilization = f.Int32(2, ptr=True, omitempty=True)
    targetAverageValue = f.Quantity(3, ptr=True, omitempty=True)


class ResourceMetricStatus(KubeSchema, published=False):
    """Resource metric status: part of MetricStatus.resource."""

    name = f.String(1, required=True, typedef="v1.ResourceName")
    currentAverageUtilization = f.Int32(2, ptr=True, omitempty=True)
    currentAverageValue = f.Quantity(3, required=True)


class Scale(KubeObject):
    """How many replicas a workload should have and has."""

    metadata = f.Struct("hyperkube_api.meta.v1:ObjectMeta", 1, omitempty=True, doc="Standard metadata of the object.")
    spec = f.Struct("ScaleSpec", 2, omitempty=True, doc="What is wished for.")
    status = f.Struct("ScaleStatus", 3, omitempty=True, doc="What is observed.")


class ScaleSpec(KubeSchema):
    """What a Scale should be."""

    replicas = f.Int32(
        1,
        omitempty=True,
        default=0,
        dv=('k8s:alpha(since: "1.36")=+k8s:optional', 'k8s:alpha(since: "1.36")=+k8s:minimum=0'),
    )


class ScaleStatus(KubeSchema):
    """What is observed of a Scale."""

    replicas = f.Int32(1, required=True)
    selector = f.String(2, omitempty=True)
